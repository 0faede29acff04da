<?php
function send_invoice(PDO $db, array $payload): void
{
    $db->prepare('update orders set invoiced_at = now() where id = ?')->execute([$payload['order']]);
}

$db = new PDO('pgsql:');
$me = bin2hex(random_bytes(16));
$claim = $db->prepare("select id, payload, lease from graphile_worker.get_job(?, array['send_invoice'])");
$fail = $db->prepare('select graphile_worker.fail_job(?, ?, ?, ?)');
$complete = $db->prepare('select graphile_worker.complete_job(?, ?, ?)');
while ($claim->execute([$me]) && $job = $claim->fetchObject()) {
    try {
        send_invoice($db, json_decode($job->payload, true));
    } catch (Throwable $error) {
        $fail->execute([$me, $job->id, $error->getMessage(), $job->lease]);
        continue;
    }
    $complete->execute([$me, $job->id, $job->lease]);
}
