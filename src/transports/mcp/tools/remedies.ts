import type { DomainError, ErrorCode } from '../../../../packages/core/src/domain/errors.ts';
import type { Operation } from '../../../operations/define.ts';
import { maxWaitSeconds } from '../../../../packages/core/src/inputs/fields.ts';
import { describeId } from './references.ts';

/** The call that failed. */
export interface FailedCall {
  operation: Operation;
  args: Record<string, unknown>;
}

type Explain = (message: string, call: FailedCall, error: DomainError) => string;

/** The message of an error in terms of tools: it names the next call that can succeed, and nothing of other transports. */
export function explainError(text: string, error: DomainError, call: FailedCall): string {
  const message = endSentence(text);
  return explanations[error.code]?.(message, call, error) ?? message;
}

const endSentence = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`);

const add =
  (remedy: string): Explain =>
  (message) =>
    `${message} ${remedy}`;

/** As `add`; an id of another kind is named. */
const addFor =
  (fields: readonly string[], remedy: (call: FailedCall) => string, expected?: string): Explain =>
  (message, call) => {
    for (const field of fields) {
      const kind = describeId([call.args[field]].flat()[0]);
      if (kind !== undefined && kind !== expected) return `${field}: that is ${kind}. ${remedy(call)}`;
    }
    return `${message} ${remedy(call)}`;
  };

const handleFields = ['with_handle', 'participants', 'handle', 'counterpart', 'from', 'request_id'];
const findThread = 'Call list_threads to get the ids of your threads, or create_thread to start one.';
const findMessage = 'Call get_thread to get the ids of its messages.';
const findAgent = ({ args }: FailedCall) =>
  'request_id' in args ? findRequest : 'Call search_agents, or ask your user for the exact handle.';
const findRequest = 'Call list_contact_requests to get the pending ones.';
const findTask = 'Call list_tasks to get the ids of your tasks.';
const findLease = 'Call claim_messages to get a lease.';

function findAttachment({ operation: { name } }: FailedCall): string {
  if (name === 'read_attachment') return 'Call get_thread: its messages have the ids of their attachments.';
  return name === 'complete_upload'
    ? 'Call request_upload_url to start an upload, or upload_attachment for a small file.'
    : 'Call upload_attachment to get an id.';
}

const explanations: Partial<Record<ErrorCode, Explain>> = {
  VALIDATION_ERROR: explainInvalid,
  THREAD_NOT_FOUND: addFor(['thread_id'], () => findThread, 'a thread id'),
  TASK_NOT_FOUND: addFor(['task_id'], () => findTask, 'a task id'),
  MESSAGE_NOT_FOUND(message, call, error) {
    if (/^\d+$/.test(String(call.args['reply_to'])))
      return `reply_to: must be the id of a message, msg_…, not its sequence. ${findMessage}`;
    return addFor(['reply_to'], () => findMessage, 'a message id')(message, call, error);
  },
  AGENT_NOT_FOUND: addFor(handleFields, findAgent, 'an agent id'),
  INVALID_HANDLE: addFor(handleFields, findAgent, 'an agent id'),
  ATTACHMENT_NOT_FOUND: addFor(['attachment_id', 'attachment_ids'], findAttachment, 'an attachment id'),
  REQUEST_NOT_FOUND: addFor(['request_id'], () => findRequest, 'the id of a contact request'),
  LEASE_NOT_FOUND: addFor(['lease_id'], () => findLease, 'a lease id'),
  LEASE_LOST: add('Call claim_messages.'),
  NOT_FOUND: (message, { operation: { name } }) =>
    name === 'unblock_agent' ? `${message} You can write to it: call create_thread.` : message,
  CONTACT_NOT_FOUND: add('Call list_contacts to see them.'),
  NOT_CONTACTS: add('Call request_contact, then wait_for_events until contact.added.'),
  NOT_TRUSTED: add('Ask your user: the owners must allow it.'),
  NOT_ALLOWED: add('Ask your user: the owner of that agent must allow it.'),
  BLOCKED: add('Call unblock_agent if your user agrees.'),
  CANNOT_INITIATE_THREADS: add('Call list_threads, and use send_message in a thread that exists.'),
  THREAD_CLOSED: (message) =>
    `${message.replace(/;.*$/s, '.')} Call update_thread with status active, or create_thread to start another.`,
  INVALID_TRANSITION(message, { operation: { name } }) {
    if (name === 'update_thread')
      return `${message} Call update_thread with status active, then again with the new status.`;
    if (name === 'update_task') return `${message} To say more, call send_message in its thread.`;
    return name === 'cancel_task' ? `${message} Call get_task to read its state.` : message;
  },
  ATTACHMENT_ALREADY_SENT: () =>
    'An attachment of attachment_ids was already sent, and each can be sent once. Call upload_attachment again and pass the new id.',
  ATTACHMENT_NOT_READY: (message, { operation: { name } }) =>
    name === 'complete_upload'
      ? `${message} If you cannot send them, call upload_attachment instead.`
      : message,
  UNSUPPORTED_MEDIA_TYPE: (message, { args }) =>
    'content_type' in args ? `${message} Leave out content_type, or pass the right one.` : message,
  MESSAGE_TOO_LARGE: add(
    'Send the content in parts, or call upload_attachment with text and pass the id in attachment_ids.',
  ),
  IDEMPOTENCY_MISMATCH: () => 'This idempotency_key was used for another call. Use a new idempotency_key.',
  IDEMPOTENCY_IN_PROGRESS: () =>
    'The first call with this idempotency_key is still running. Repeat this call in a moment.',
  INVALID_CURSOR: explainCursor,
  RATE_LIMITED: explainRateLimit,
  FORBIDDEN: (message, { operation: { name } }) =>
    name === 'update_me'
      ? `${message.replace(/, with .*$/, '.')} Leave it out; your user can change it in the console.`
      : message,
};

function explainCursor(message: string, { operation: { name }, args }: FailedCall): string {
  if (name !== 'acknowledge_events') return message;
  const kind = describeId(args['cursor']);
  const problem = kind === undefined ? 'is no position in your feed' : `that is ${kind}`;
  return `cursor: ${problem}. Call wait_for_events, and pass the cursor of its result unchanged.`;
}

/** A loop of reads is the usual reason. A stopped loop of messages has details. */
function explainRateLimit(message: string, { operation }: FailedCall, { details }: DomainError): string {
  const isPoll = operation.kind === 'read' && operation.limit === undefined;
  if (details || !isPoll) return message;
  return `${message} To wait for something new, call wait_for_events with wait_seconds: ${maxWaitSeconds}: one call in ${maxWaitSeconds} s is enough.`;
}

/** Where to get an argument that is missing. */
const sources: readonly (readonly [fields: readonly string[], remedy: string])[] = [
  [['thread_id'], findThread],
  [['attachment_id'], 'Call get_thread: its messages have the ids of their attachments.'],
  [['request_id'], findRequest],
  [['lease_id'], findLease],
  [['task_id'], findTask],
  [['handle', 'with_handle'], 'Call search_agents or list_contacts to get a handle.'],
  [
    ['up_to_sequence', 'after_sequence', 'before_sequence'],
    'Call get_thread: each message has its sequence.',
  ],
  [['cursor'], 'Call wait_for_events, and pass the cursor of its result.'],
];

/** Arguments of other services. */
const foreign: readonly (readonly [
  operations: readonly string[],
  args: readonly string[],
  remedy: string,
])[] = [
  [
    ['send_message'],
    ['to', 'recipient', 'recipients', 'handle', 'with_handle', 'agent', 'participants', 'user'],
    'To write to an agent, call ask or create_thread with with_handle.',
  ],
  [
    ['upload_attachment', 'request_upload'],
    ['path', 'file_path', 'filepath', 'url', 'uri', 'file'],
    'The service cannot read files or addresses: call upload_attachment with text, or with content in base64.',
  ],
];

function explainInvalid(
  message: string,
  { operation, args }: FailedCall,
  { details = [] }: DomainError,
): string {
  const other = foreign.find(
    ([operations, names]) => operations.includes(operation.name) && names.some((name) => name in args),
  );
  if (other) return `${message} ${other[2]}`;
  const wrong = new Set(
    details.filter(({ message: problem }) => isAboutSource(problem)).map(({ field }) => field),
  );
  const source = sources.find(([fields]) => fields.some((field) => wrong.has(field)));
  return source ? `${message} ${source[1]}` : message;
}

const isAboutSource = (problem: string) =>
  problem.startsWith('is required') || problem.startsWith('must be the sequence number');
