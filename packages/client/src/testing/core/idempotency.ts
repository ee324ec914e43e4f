import { toCanonicalJson } from '../../../../core/src/domain/canonical-json.ts';
import { mismatchedKey } from '../../../../core/src/domain/errors.ts';
import { type Call, storeFor } from './state.ts';

/** The answers of calls with an idempotency key. */
export const answersOf = storeFor<{ request: string; output: Promise<object> }>();

/** Runs a call once for each key of an agent and a path; a repeated call gets the first answer. @throws {DomainError} IDEMPOTENCY_MISMATCH */
export async function runOnce(
  { state, me }: Call,
  { method, path, key, input }: { method: string; path: string; key: string; input: object },
  run: () => Promise<object>,
): Promise<{ output: object; isReplayed: boolean }> {
  const id = JSON.stringify([me.id, method, fillPath(path, input), key]);
  const request = toCanonicalJson(input);
  const answers = answersOf(state);
  const stored = answers.get(id);
  if (stored) {
    if (stored.request !== request) throw mismatchedKey();
    return { output: await stored.output, isReplayed: true };
  }
  const output = run();
  answers.set(id, { request, output });
  // A refusal is not stored.
  output.catch(() => answers.delete(id));
  return { output: structuredClone(await output), isReplayed: false };
}

function fillPath(path: string, input: object): string {
  const fields = new Map(Object.entries(input));
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(fields.get(name)));
}
