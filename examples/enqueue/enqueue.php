<?php
$db = new PDO('pgsql:');
$db->beginTransaction();
$insert = $db->prepare('insert into orders (customer) values (?) returning id');
$insert->execute(['Ada']);
$payload = json_encode(['order' => $insert->fetchColumn()]);
$db->prepare("select from graphile_worker.add_job('send_invoice', ?, queue_name => 'invoices')")->execute([$payload]);
$db->commit();
