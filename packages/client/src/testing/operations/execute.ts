import { agentHandlers } from './agents.ts';
import { approvalHandlers } from './approvals.ts';
import { askHandlers } from './ask.ts';
import { attachmentHandlers } from './attachments.ts';
import { contactHandlers } from './contacts.ts';
import { batchHandlers } from './batches.ts';
import contract from '../contract.json' with { type: 'json' };
import { lastNumber } from '../core/feed.ts';
import { runOnce } from './idempotency.ts';
import { inboxHandlers } from './inbox.ts';
import { parseInput, type Schema } from './input.ts';
import { awaitReply, messageHandlers } from './messages.ts';
import { searchHandlers } from './search.ts';
import { ServiceError, wrongField } from '../core/service-error.ts';
import type { Call, Handler } from '../core/state.ts';
import { threadHandlers } from './threads.ts';
import { webhookHandlers } from './webhooks.ts';

/** An operation of the service, as contract.json has it. */
export interface Operation {
  method: string;
  path: string;
  status: number;
  forms?: string;
  idempotency?: string;
  upload?: string;
  scope: string | readonly string[];
  kind: string;
  waits?: boolean;
  input: Schema;
}

export const operations: ReadonlyMap<string, Operation> = new Map(Object.entries(contract.operations));

export const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>(
  Object.entries({
    ...agentHandlers,
    ...approvalHandlers,
    ...askHandlers,
    ...attachmentHandlers,
    ...batchHandlers,
    ...contactHandlers,
    ...inboxHandlers,
    ...messageHandlers,
    ...searchHandlers,
    ...threadHandlers,
    ...webhookHandlers,
  }),
);

const basicScopes = ['threads:read', 'threads:write', 'contacts:read', 'contacts:write'];

/** @throws {ServiceError} INSUFFICIENT_SCOPE */
function requireScope(granted: ReadonlySet<string>, scope: string | readonly string[]): void {
  const accepted = typeof scope === 'string' ? [scope] : scope;
  if (scope === 'any' || accepted.some((one) => granted.has(one))) return;
  // A token with any basic scope may read agents.
  if (scope === 'agents:read' && basicScopes.some((one) => granted.has(one))) return;
  const message = `This call needs a token with the scope ${accepted.join(' or ')}.`;
  throw new ServiceError('INSUFFICIENT_SCOPE', message, { scope: accepted[0] ?? '' });
}

export interface Answer {
  output: object;
  isReplayed: boolean;
}

export interface Execute {
  /** Runs an operation. @throws {ServiceError} */
  (call: Call, name: string, input: Record<string, unknown>, key: string | undefined): Promise<Answer>;
}

/** Creates the function that runs operations: scope, input, idempotency key, the operation, and the wait for a reply. */
export function createExecute(): Execute {
  return async function execute(call, name, given, key) {
    const operation = operations.get(name);
    if (!operation) throw wrongField('operation', 'is not an operation of the fake service');
    requireScope(call.scopes, operation.scope);
    if (operation.waits) requireScope(call.scopes, 'threads:read');
    const input = parseInput(operation.input, given);
    if (key !== undefined && !/^[\x21-\x7e]{1,255}$/.test(key))
      throw wrongField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
    const start = lastNumber(call.me);
    const answer =
      key === undefined || operation.kind === 'read'
        ? { output: await run(call, name, input), isReplayed: false }
        : await runOnce(call, { ...operation, input, key }, () => run(call, name, input));
    return operation.waits ? addReply(call, answer, input, start) : answer;
  };
}

async function run(call: Call, name: string, input: object): Promise<object> {
  const handler = handlers.get(name);
  if (!handler) throw new Error(`the fake service has no operation ${name}`);
  // The answer is what was true when the operation ran.
  return structuredClone(await handler(call, input as never));
}

async function addReply(
  call: Call,
  { output, isReplayed }: Answer,
  input: Record<string, unknown>,
  start: number,
): Promise<Answer> {
  const { thread_id, message, after_sequence } = output as {
    thread_id?: string;
    message?: { thread_id: string };
    after_sequence: number;
  };
  const wait_seconds = Number(input['wait_seconds']);
  const id = message?.thread_id ?? thread_id ?? '';
  const waited = await awaitReply(call, { thread_id: id, after_sequence, wait_seconds, start });
  return { output: { ...output, ...waited }, isReplayed };
}
