// Throws what it is told to.
class Refusal extends Error {
  override name = "Refusal";
}

export default async function (payload: { kind: string }): Promise<void> {
  switch (payload.kind) {
    case "error":
      throw new Error("no such mailbox");
    case "empty":
      throw new Error();
    case "own":
      throw new Refusal("not for you");
    case "object":
      throw { message: "an object", code: 7 };
    case "null":
      throw null;
    case "lines":
      throw new Error("one\ntwo \u20ac \u2028 three");
  }
}
