import { createHash } from 'node:crypto';
import { z } from 'zod';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import { requireScope } from '../../../packages/core/src/domain/auth/require-scope.ts';
import { checkA2aMessageOperation, parseIsNew } from '../../operations/a2a/check-message.ts';
import { sendA2aMessageOperation } from '../../operations/a2a/send-message.ts';
import { shownTask } from '../../operations/a2a/show-task.ts';
import { createAttachmentOperation } from '../../operations/attachments/create-attachment.ts';
import type { SendMessageRequest, WireMessage } from '../../presenters/a2a/request.ts';
import { readRawFiles, toStoredMessage } from '../../presenters/a2a/stored-message.ts';
import type { CallContext } from './context.ts';
import { toPushInput } from './push-configs.ts';

const storedFile = z.object({ id: z.string() });

/**
 * Stores the files of a message, each at most once for each messageId, unless the message was sent before.
 * @returns the ids of the attachments
 * @throws {DomainError} what refuses the message, before anything is stored
 */
async function storeFiles(
  { run, request }: CallContext,
  message: WireMessage,
  place: object,
): Promise<string[]> {
  const { messageId } = message;
  const files = readRawFiles(message);
  if (files.length === 0) return [];
  const checked = await run(checkA2aMessageOperation, { agent: request.agent, ...place });
  if (!parseIsNew(checked)) return [];
  const ids: string[] = [];
  for (const [index, { bytes, ...file }] of files.entries()) {
    const sha256 = createHash('sha256').update(bytes).digest('base64url');
    const open = async () => ({
      ...file,
      bytes: (async function* () {
        yield bytes;
      })(),
    });
    const name = JSON.stringify([request.agent, messageId, index, sha256, file]);
    const idempotency_key = `a2a-${createHash('sha256').update(name).digest('base64url')}`;
    const stored = await run(createAttachmentOperation, { file: { open } }, { idempotency_key });
    ids.push(storedFile.parse(stored).id);
  }
  return ids;
}

/**
 * Sends a message to the agent of a request. A message that was sent before stores nothing.
 * @returns its task as it is now
 */
export async function sendMessage(context: CallContext, { message, configuration }: SendMessageRequest) {
  const { actor, agent, hasMailbox } = context.request;
  requireScope(actor.scopes, 'threads:read');
  const { wire, digest, ...stored } = toStoredMessage(message);
  const place = {
    message_id: message.messageId,
    task_id: message.taskId,
    context_id: message.contextId,
  };
  const sent = await context.run(sendA2aMessageOperation, {
    ...stored,
    agent,
    has_mailbox: hasMailbox,
    ...place,
    attachment_ids: await storeFiles(context, message, place),
    accepted_output_modes: configuration.acceptedOutputModes,
    expects_reply: expectsReply(message),
    digest: digest.toString('base64'),
    wire: JSON.stringify(wire),
    history_length: configuration.historyLength,
    push_config:
      configuration.taskPushNotificationConfig &&
      toPushInput(context, configuration.taskPushNotificationConfig),
  });
  return shownTask.parse(sent);
}

/** A message says in the metadata of the mailbox extension that it expects no reply. */
export function expectsReply({ metadata }: WireMessage): boolean {
  const mailbox = z.object({ expects_reply: z.boolean() }).safeParse(metadata?.[mailboxExtension]);
  return !mailbox.success || mailbox.data.expects_reply;
}
