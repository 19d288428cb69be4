// Held to verification.d.mts by the compiler, then run.
import { TOLERANCE, verify, VerificationFailed } from "./verification.mjs";

const signature: string | undefined = undefined;
try {
  verify(new Uint8Array(), signature, ["whsec_new", "whsec_old"], { tolerance: TOLERANCE, now: 1 });
} catch (failed) {
  if (failed instanceof VerificationFailed) console.log(failed.name);
}
// @ts-expect-error  A body is bytes: parsed and serialised again it would be others.
const parsed: Parameters<typeof verify>[0] = "{}";
// @ts-expect-error  It returns nothing: a delivery that cannot be trusted raises.
const judged: boolean = verify;
