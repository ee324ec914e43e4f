import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { sendMessageOperation } from '../../../../operations/messages/send-message.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { readIdempotencyKey } from '../../idempotency-key.ts';
import { type FormErrors, orShowFormAgain } from '../../form-errors.ts';
import { action, type PersonVisit } from '../../route.ts';
import { maxMessageFormBytes } from './new.tsx';
import { findPlace, showConversation } from './conversation.tsx';
import { pageSize } from './conversation-view.tsx';
import { readUploads, toAttachmentIds, uploadFiles } from './draft.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';
import type { EnteredMessage } from './write-form.tsx';

/** What a person has entered. Browsers send line breaks as CRLF (HTML standard, section 4.10.22). */
const readEntered = ({ form }: Pick<PersonVisit, 'form'>): EnteredMessage => ({
  agent_id: form.get('agent_id') ?? '',
  content: (form.get('content') ?? '').replaceAll('\r\n', '\n'),
  reply_to: form.get('answer') ?? form.get('reply_to') ?? undefined,
  isMarkdown: form.get('markdown') === 'true',
  isPreview: form.get('preview') === 'true',
  uploads: readUploads(form),
});

/** Longer texts are not rendered: it takes too long. */
const maxPreviewCharacters = 6_000;

/** The newest page, if the message to answer cannot be found: that is the error of the form. */
function orNewest(error: unknown): object {
  if (error instanceof DomainError) return {};
  throw error;
}

/** Shows the form with what was entered: how it will look, or as the answer to another message. */
export const draftAction = action(
  `${conversationsAddress}/:id/draft`,
  async (visit) => {
    const { params, parts, person, form } = visit;
    const thread_id = params['id'] ?? '';
    const entered = readEntered(visit);
    const isLong = entered.isPreview && entered.content.length > maxPreviewCharacters;
    const shown = { ...entered, ...(isLong && { isMarkdown: false }) };
    const place = await findPlace(visit, thread_id, entered.reply_to);
    const show = (formErrors?: FormErrors) =>
      showConversation(visit, { thread_id, limit: pageSize, ...place, entered: { ...shown, formErrors } });
    return orShowFormAgain(async () => {
      const { call } = await actAsAgent(parts, person, entered.agent_id);
      await uploadFiles(visit, entered.uploads, { call }, readIdempotencyKey(form));
      return show();
    }, show);
  },
  maxMessageFormBytes,
  true,
);

/** Writes a message as one of the person's agents. Other members see that a person wrote it. */
export const writeAction = action(
  `${conversationsAddress}/:id/messages`,
  async (visit) => {
    const { params, parts, person, form } = visit;
    const thread_id = params['id'] ?? '';
    const entered = readEntered(visit);
    return orShowFormAgain(
      async () => {
        const { agent, call } = await actAsAgent(parts, person, entered.agent_id);
        requireNotPaused(agent);
        const { content, isMarkdown, uploads } = entered;
        const key = readIdempotencyKey(form);
        await uploadFiles(visit, uploads, { call }, key);
        const message = {
          thread_id,
          content,
          reply_to: entered.reply_to || undefined,
          attachment_ids: toAttachmentIds(uploads),
          ...(isMarkdown && { content_type: 'markdown' }),
        };
        const { id } = await call(sendMessageOperation, message, key);
        const to = `${conversationAddress(thread_id)}#${id}`;
        return { to, flash: `Sent as @${agent.canonical_handle}.` };
      },
      async (formErrors) => {
        // A reply is shown with its message.
        const place = await findPlace(visit, thread_id, entered.reply_to).catch(orNewest);
        return showConversation(visit, {
          thread_id,
          limit: pageSize,
          ...place,
          entered: { ...entered, formErrors },
        });
      },
      { AGENT_NOT_FOUND: 'content', AGENT_PAUSED: 'content', ATTACHMENT_NOT_FOUND: 'attachment_ids' },
    );
  },
  maxMessageFormBytes,
  true,
);
