import { z } from 'zod';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import { isBlank } from '../../../packages/core/src/domain/visible-text.ts';
import type { RemoteItem, RemoteTask } from '../../../packages/core/src/domain/remote.ts';
import { isSettledTask, taskDeliveries } from '../../../packages/core/src/domain/tasks.ts';
import { type WirePart, wirePart } from './request.ts';
import { fromWireState, wireTaskStates } from './states.ts';
import { digestOfParts, maxContentBytes, readRawFiles, toContent } from './stored-message.ts';
import { withdrawnPart } from './task.ts';

/** A message to a remote agent. */
export interface OutgoingMessage {
  id: string;
  /** As both installations name it. */
  conversation: string;
  content: string;
  content_type: 'text' | 'markdown';
  metadata: Record<string, unknown>;
  expects_reply: boolean;
  /** The message of the same sender before it. It can change, so it does not belong to the message. */
  after: string | null;
}

/** Where a message continues at the remote side. */
export interface OutgoingPlace {
  context_id: string | null;
  remote_task_id: string | null;
  /** Where updates of its task are sent; null: nowhere. */
  callback_url: string | null;
}

/** Returns a request of SendMessage that does not wait (A2A 1.0, section 3.2.1). */
export function toSendRequest(
  message: OutgoingMessage,
  files: readonly WirePart[],
  { context_id, remote_task_id, callback_url }: OutgoingPlace,
): object {
  const { id, conversation, content, content_type, metadata, expects_reply, after } = message;
  const mediaType = content_type === 'markdown' ? 'text/markdown' : 'text/plain';
  const mailbox = { conversation, metadata, ...(!expects_reply && { expects_reply: false }) };
  return {
    message: {
      messageId: id,
      role: 'ROLE_USER',
      ...(context_id !== null && { contextId: context_id }),
      ...(remote_task_id !== null && { taskId: remote_task_id }),
      parts: [...(content !== '' ? [{ text: content, mediaType }] : []), ...files],
      metadata: { [mailboxExtension]: mailbox },
      extensions: [mailboxExtension],
    },
    ...(after !== null && { metadata: { [mailboxExtension]: { after } } }),
    configuration: {
      returnImmediately: true,
      ...(callback_url !== null && { taskPushNotificationConfig: { url: callback_url } }),
    },
  };
}

/** Where a withdrawn message is at another installation. */
export interface OutgoingWithdrawal extends Pick<OutgoingMessage, 'conversation' | 'after'> {
  message_id: string;
  context_id: string | null;
}

/** Returns a request of SendMessage with a message that withdraws an earlier one. */
export function toWithdrawalRequest({
  message_id,
  conversation,
  context_id,
  after,
}: OutgoingWithdrawal): object {
  return {
    message: {
      messageId: `${message_id}-withdrawn`,
      role: 'ROLE_USER',
      ...(context_id !== null && { contextId: context_id }),
      parts: [withdrawnPart],
      metadata: { [mailboxExtension]: { conversation, expects_reply: false, withdraws: message_id } },
      extensions: [mailboxExtension],
    },
    ...(after !== null && { metadata: { [mailboxExtension]: { after } } }),
    configuration: { returnImmediately: true },
  };
}

/** PostgreSQL stores no zero byte. */
const storableText = z.string().transform((value) => value.toWellFormed().replaceAll('\0', '�'));
const remoteId = storableText.pipe(z.string().min(1).max(1_024));

/** A part that is none of A2A is shown as text, so that the others arrive. */
const lenientPart = z
  .object({
    text: storableText.optional(),
    raw: z.string().optional(),
    url: storableText.optional(),
    data: z.unknown().optional(),
    filename: storableText.transform((value) => value.slice(0, 255)).optional(),
    mediaType: storableText.optional(),
  })
  .transform((part): WirePart => {
    const known = wirePart.safeParse(part);
    if (known.success) return known.data;
    return { text: part.text ?? part.url ?? `A part cannot be shown: ${part.filename ?? 'without a name'}.` };
  });
/** The SDK leaves out an empty list. A side that sends a text in small pieces can have thousands of parts. */
const lenientParts = z.array(lenientPart).max(10_000).default([]);
/** The message that one follows, at another installation; null: unknown. */
const after = z
  .object({ [mailboxExtension]: z.object({ after: remoteId }) })
  .transform((metadata) => metadata[mailboxExtension]?.after ?? null)
  .nullable()
  .catch(null);
const message = z.object({
  messageId: remoteId.optional(),
  role: z.string().default(''),
  parts: lenientParts,
  metadata: after,
});
const artifact = z.object({ artifactId: remoteId.default(''), parts: lenientParts, metadata: after });
const mark = remoteId.optional().catch(undefined);
const mailboxSchema = z.object({
  generation: z.int().min(0),
  delivery: z.enum(taskDeliveries),
  marks: z.object({ delivered: mark, read: mark, handled: mark }).catch({}),
});

/** Calls name it, so it is not changed. */
const calledId = z
  .string()
  .min(1)
  .max(1_024)
  .refine((value) => value.isWellFormed() && !value.includes('\0'));

const optionalContextId = calledId.nullable().catch(null);

const remoteTask = z.object({
  id: calledId,
  contextId: optionalContextId,
  status: z.object({
    state: z.enum(wireTaskStates).catch('TASK_STATE_UNSPECIFIED'),
    message: message.optional(),
  }),
  artifacts: z.array(artifact).default([]),
  history: z.array(message).default([]),
  metadata: z.record(z.string(), z.unknown()).default({}),
});

/** Reads a task (A2A 1.0, section 4.1.1). @throws {ZodError} it is none */
export function readRemoteTask(json: unknown): RemoteTask {
  const { id, contextId, status, artifacts, history, metadata } = remoteTask.parse(json);
  const state = fromWireState(status.state) ?? 'submitted';
  const mailbox = mailboxSchema.safeParse(metadata[mailboxExtension]).data ?? null;
  const isSettled = isSettledTask(state);
  const artifactIds = new Set(artifacts.map(({ artifactId }) => artifactId));
  // A message of this service that is an artifact is in the history too.
  const spoken = new Map(
    [...history, ...(status.message ? [status.message] : [])]
      .filter(({ role, messageId }) => role === 'ROLE_AGENT' && !(messageId && artifactIds.has(messageId)))
      .map((said) => [
        toMessageKey(id, said),
        toItem({ key: toMessageKey(id, said), isArtifact: false, ...said }),
      ]),
  );
  const lastKey = isSettled && status.message ? toMessageKey(id, status.message) : undefined;
  // While a task works, its artifacts can grow.
  const shown = mailbox || isSettled ? artifacts : [];
  const results = new Map(
    shown.map((each) => [
      toArtifactKey(each),
      toItem({ key: toArtifactKey(each), isArtifact: true, ...each }),
    ]),
  );
  const items = [
    ...[...spoken.values()].filter(({ key }) => key !== lastKey),
    ...results.values(),
    ...[...spoken.values()].filter(({ key }) => key === lastKey),
  ].filter(({ content, files }) => !isBlank(content) || files.length > 0);
  return { id, context_id: contextId, state, items, mailbox };

  /** Other systems send an artifact in pieces, and replace it, under one ID, which only its task has once. */
  function toArtifactKey({ artifactId, parts }: z.infer<typeof artifact>): string {
    return mailbox ? artifactId : `${artifactId}#${digestOfParts(id, parts).toString('hex')}`;
  }
}

/**
 * It is the same at each read, also without the required ID.
 * @param place the ID of its task, or of the message that it answers.
 */
const toMessageKey = (place: string, { messageId, parts }: z.infer<typeof message>): string =>
  messageId ?? `#${digestOfParts(place, parts).toString('hex')}`;

const remoteMessage = message.extend({ contextId: optionalContextId });

/**
 * Reads a message that answers at once, in place of a task (A2A 1.0, section 3.1.1).
 * @param answered_id the message that it answers.
 * @throws {ZodError} it is none
 */
export function readRemoteMessage(
  json: unknown,
  answered_id: string,
): { context_id: string | null; item: RemoteItem } {
  const { contextId: context_id, ...said } = remoteMessage.parse(json);
  const item = toItem({ key: toMessageKey(answered_id, said), isArtifact: false, ...said });
  const isEmpty = isBlank(item.content) && item.files.length === 0;
  return { context_id, item: isEmpty ? { ...item, content: 'The answer is empty.' } : item };
}

interface Said {
  key: string;
  isArtifact: boolean;
  parts: readonly WirePart[];
  metadata: string | null;
}

/** Text that is too long for a message is a file. */
function toItem({ key, isArtifact, parts, metadata: previous }: Said): RemoteItem {
  // JSON may have any media type.
  const known = parts.map(({ mediaType, ...part }) =>
    part.data === undefined && mediaType !== undefined ? { ...part, mediaType } : part,
  );
  const files = readRawFiles({ parts: known });
  const text = toContent(known);
  const item = { key, isArtifact, after: previous };
  const bytes = Buffer.from(text.content);
  if (bytes.length <= maxContentBytes) return { ...item, ...text, files };
  const file = { filename: 'message.txt', content_type: 'text/plain', bytes };
  return { ...item, content: '', content_type: 'text', files: [file, ...files] };
}
