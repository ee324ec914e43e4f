import { createHash } from 'node:crypto';
import { z } from 'zod';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { requireScope } from '../../../packages/core/src/domain/auth/require-scope.ts';
import { checkA2aMessageOperation } from '../../operations/a2a/check-message.ts';
import { sendA2aMessageOperation } from '../../operations/a2a/send-message.ts';
import { withdrawA2aMessageOperation } from '../../operations/a2a/withdraw-message.ts';
import { createAttachmentOperation } from '../../operations/attachments/create-attachment.ts';
import type { SendMessageRequest, WireMessage } from '../../presenters/a2a/request.ts';
import { readRawFiles, toStoredMessage } from '../../presenters/a2a/stored-message.ts';
import type { CallContext } from './context.ts';
import { toPushInput } from './push-configs.ts';

/** A stored file, and the place of its part in the message. */
interface SentFile {
  id: string;
  index: number;
}

/**
 * Stores the files of a message, each at most once for each messageId, unless the message was sent before.
 * @throws {DomainError} before anything is stored, if the message would be refused
 */
async function storeFiles(
  { run, request }: CallContext,
  message: WireMessage,
  place: object,
): Promise<SentFile[]> {
  const { messageId } = message;
  const files = readRawFiles(message);
  if (files.length === 0) return [];
  const checked = await run(checkA2aMessageOperation, { agent: request.agent, ...place });
  if (!checked.is_new) return [];
  const sent: SentFile[] = [];
  for (const { index, bytes, ...file } of files) {
    const sha256 = createHash('sha256').update(bytes).digest('base64url');
    const open = async () => ({
      ...file,
      bytes: (async function* () {
        yield bytes;
      })(),
    });
    const name = JSON.stringify([request.agent, messageId, index, sha256, file]);
    const idempotency_key = `a2a-${createHash('sha256').update(name).digest('base64url')}`;
    const stored = await run(createAttachmentOperation, { file: { open } }, { idempotency_key }).catch(
      (error: unknown) => {
        throw inPart(error, index);
      },
    );
    sent.push({ id: stored.id, index });
  }
  return sent;
}

const isFileError = /^(?:ATTACHMENT_\w+|UNSUPPORTED_MEDIA_TYPE|VALIDATION_ERROR)$/;
/** The fields of an upload, and those of a part. */
const partFields: Readonly<Record<string, string>> = { file: 'raw', content_type: 'mediaType' };

/** Names the part of the client in an error of its file. */
function inPart(error: unknown, index: number): unknown {
  if (!(error instanceof DomainError) || !isFileError.test(error.code)) return error;
  const { code, message, retry_after } = error;
  const part = `message.parts.${index}`;
  const [wrong] = error.details ?? [];
  const detail = wrong
    ? { field: `${part}.${partFields[wrong.field] ?? wrong.field}`, message: wrong.message }
    : { field: part, message };
  return new DomainError(code, `${detail.field}: ${detail.message}`, {
    details: [detail],
    ...(retry_after !== undefined && { retry_after }),
  });
}

/** Names the fields of the client in an error of its message. */
function inMessage(error: unknown, files: readonly SentFile[]): unknown {
  if (!(error instanceof DomainError)) return error;
  const file = files.find(({ id }) => error.message.includes(id));
  if (file) return inPart(error, file.index);
  const [wrong] = error.details ?? [];
  if (wrong?.field !== 'url') return error;
  return wrongField('configuration.taskPushNotificationConfig.url', wrong.message);
}

/**
 * Sends a message to the agent of a request. A message that was sent before stores nothing.
 * @returns its task as it is now
 */
export async function sendMessage(
  context: CallContext,
  { message, configuration, metadata }: SendMessageRequest,
) {
  const { actor, agent, hasMailbox } = context.request;
  requireScope(actor.scopes, 'threads:read');
  const { wire, digest, ...stored } = toStoredMessage(message);
  const place = {
    message_id: message.messageId,
    task_id: message.taskId,
    context_id: message.contextId,
  };
  const { conversation } = readMailbox(message);
  const files = await storeFiles(context, message, place);
  const input = {
    ...stored,
    agent,
    has_mailbox: hasMailbox,
    ...place,
    conversation,
    after: readMailbox({ metadata }).after,
    attachment_ids: files.map(({ id }) => id),
    accepted_output_modes: configuration.acceptedOutputModes,
    expects_reply: expectsReply(message),
    digest: digest.toString('base64'),
    wire: JSON.stringify(wire),
    history_length: configuration.historyLength,
    push_config:
      configuration.taskPushNotificationConfig &&
      toPushInput(context, configuration.taskPushNotificationConfig),
  };
  return context.run(sendA2aMessageOperation, input).catch((error: unknown) => {
    throw inMessage(error, files);
  });
}

/**
 * Withdraws an earlier message of the client, if a message says so. The answer is the same for every message that it names.
 * @returns a message in place of a task; null if it withdraws none
 */
export async function withdraw(
  { run, request: { agent } }: CallContext,
  { message, metadata }: SendMessageRequest,
): Promise<object | null> {
  const { withdraws, conversation } = readMailbox(message);
  if (withdraws === undefined) return null;
  const { after } = readMailbox({ metadata });
  await run(withdrawA2aMessageOperation, {
    agent,
    withdraws,
    context_id: message.contextId,
    conversation,
    after,
  });
  const parts = [{ text: 'The withdrawal was accepted.', mediaType: 'text/plain' }];
  return { message: { messageId: `${message.messageId}-answer`, role: 'ROLE_AGENT', parts } };
}

const mailboxFields = z.object({
  expects_reply: z.boolean().optional().catch(undefined),
  after: z.string().max(255).optional().catch(undefined),
  withdraws: z.string().max(255).optional().catch(undefined),
  conversation: z
    .string()
    .regex(/^[\x21-\x7e]{1,100}$/)
    .optional()
    .catch(undefined),
});

/** What the metadata of the mailbox extension says. */
const readMailbox = ({ metadata }: Pick<WireMessage, 'metadata'>): z.infer<typeof mailboxFields> =>
  mailboxFields.safeParse(metadata?.[mailboxExtension]).data ?? {};

/** Whether a message expects a reply. Its metadata of the mailbox extension can say that it does not. */
export const expectsReply = (message: WireMessage): boolean => readMailbox(message).expects_reply ?? true;
