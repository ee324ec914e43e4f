import { approvalActions } from '../../../../core/src/domain/approvals.ts';
import { requireScope } from '../../../../core/src/domain/auth/require-scope.ts';
import type { RequiredScope } from '../../../../core/src/domain/auth/scopes.ts';
import { wrongField } from '../../../../core/src/domain/errors.ts';
import { idempotencyKeyPattern } from '../../../../core/src/inputs/fields.ts';
import { parseInput } from '../../../../core/src/inputs/parse-input.ts';
import contract from '../contract.json' with { type: 'json' };
import { lastNumber } from '../core/feed.ts';
import type { Call, Handler } from '../core/state.ts';
import { runOnce } from '../core/idempotency.ts';
import { handlers } from './handlers.ts';
import { awaitReply } from './replies.ts';
import { holdForReview, ReviewRequired } from './reviews.ts';

/** An operation of the service, as contract.json has it. */
interface Binding {
  method: string;
  path: string;
  status: number;
  forms?: string;
  idempotency?: string;
  upload?: string;
  scope: RequiredScope | 'any';
  kind: string;
  waits?: boolean;
}

export type Operation = Binding & Handler;

const bindings = contract.operations as Record<string, Binding>;

const handlerOf = new Map(handlers.flatMap((all) => Object.entries<Handler>(all)));

export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries(bindings).map(([name, binding]) => {
    const handler = handlerOf.get(name);
    if (!handler) throw new Error(`the fake service has no operation ${name}`);
    return [name, { ...binding, ...handler }];
  }),
);

export interface Answer {
  output: object;
  isReplayed: boolean;
}

/** Runs an operation: scope, input, idempotency key, the operation, and the wait for a reply. @throws {DomainError} */
export async function execute(
  call: Call,
  name: string,
  given: Record<string, unknown>,
  key: string | undefined,
): Promise<Answer> {
  const operation = operations.get(name);
  if (!operation) throw wrongField('operation', 'is not an operation of the fake service');
  for (const scope of [operation.scope, ...(operation.waits ? ['threads:read' as const] : [])])
    requireScope(call.scopes, scope);
  const input = parseInput(operation.input, given) as object;
  if (key !== undefined && !idempotencyKeyPattern.test(key))
    throw wrongField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
  const start = lastNumber(call.me);
  const run = async (by: Call): Promise<Answer> => {
    // The answer is what was true when the operation ran.
    const runNow = async () => structuredClone(await operation.run(by, input));
    return key === undefined || operation.kind === 'read'
      ? { output: await runNow(), isReplayed: false }
      : runOnce(by, { ...operation, input, key }, runNow);
  };
  const answer = await run(call).catch((thrown: unknown) => {
    const action = approvalActions.find((each) => each === name);
    if (!(thrown instanceof ReviewRequired) || action === undefined) throw thrown;
    const signal = call.state.stopped.signal;
    throw holdForReview(call, thrown, {
      action,
      input,
      key,
      run: async (reviewed) => (await run({ ...call, reviewed, signal })).output,
    });
  });
  return operation.waits ? addReply(call, answer, input, start) : answer;
}

async function addReply(call: Call, answer: Answer, input: object, start: number): Promise<Answer> {
  const { output, isReplayed } = answer;
  const { thread_id, message, task, after_sequence } = output as {
    thread_id?: string;
    message?: { thread_id: string };
    task: { id: string } | null;
    after_sequence: number;
  };
  const { wait_seconds, task_id } = input as { wait_seconds: number; task_id?: string };
  const waited = await awaitReply(call, {
    thread_id: message?.thread_id ?? thread_id ?? '',
    after_sequence,
    task_id: task_id ?? task?.id,
    is_only_in_task: task_id !== undefined,
    wait_seconds,
    start,
  });
  return { output: { ...output, ...waited }, isReplayed };
}
