import { agentHandlers } from './agents.ts';
import { askHandlers } from './ask.ts';
import { attachmentHandlers } from './attachments.ts';
import { contactHandlers } from './contacts.ts';
import contract from '../contract.json' with { type: 'json' };
import { lastNumber } from '../core/feed.ts';
import { inboxHandlers } from './inbox.ts';
import { parseInput, type Schema } from './input.ts';
import { awaitReply, messageHandlers } from './messages.ts';
import { searchHandlers } from './search.ts';
import { ServiceError, wrongField } from '../core/service-error.ts';
import type { Call, Handler } from '../core/state.ts';
import { threadHandlers } from './threads.ts';

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
    ...askHandlers,
    ...attachmentHandlers,
    ...contactHandlers,
    ...inboxHandlers,
    ...messageHandlers,
    ...searchHandlers,
    ...threadHandlers,
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

interface StoredAnswer {
  request: string;
  output: Promise<object>;
}

/** Creates the function that runs operations: scope, input, idempotency key, the operation, and the wait for a reply. */
export function createExecute(): Execute {
  const answers = new Map<string, StoredAnswer>();

  async function runOnce(call: Call, name: string, operation: Operation, input: object, key: string) {
    const path = fillPath(operation.path, input);
    const id = JSON.stringify([call.me.id, operation.method, path, key]);
    const request = toStableJson(input);
    const stored = answers.get(id);
    if (stored) {
      if (stored.request !== request)
        throw new ServiceError('IDEMPOTENCY_MISMATCH', 'This key was used for another request.');
      return { output: await stored.output, isReplayed: true };
    }
    const output = run(call, name, input);
    answers.set(id, { request, output });
    // A refusal is not stored.
    output.catch(() => answers.delete(id));
    return { output: structuredClone(await output), isReplayed: false };
  }

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
        : await runOnce(call, name, operation, input, key);
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

function fillPath(path: string, input: object): string {
  const fields = new Map(Object.entries(input));
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(fields.get(name)));
}

function toStableJson(value: unknown): string {
  return JSON.stringify(value, (_, child: unknown) => {
    if (Buffer.isBuffer(child)) return child.toString('base64');
    if (typeof child !== 'object' || child === null || Array.isArray(child)) return child;
    return Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
