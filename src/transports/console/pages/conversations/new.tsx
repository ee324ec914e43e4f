import { createThreadOperation } from '../../../../operations/threads/create-thread.ts';
import { listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { toAgentOptions } from '../../components/rows.tsx';
import { Empty, Notice } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { handleField, linesField, selectField, textField } from '../../define/fields.tsx';
import { definePage } from '../../define/page.tsx';
import type { FormErrors } from '../../form-errors.ts';
import { filesField, toAttachmentIds, uploadFiles } from './draft.tsx';
import { conversationAddress, conversationsAddress, newConversationAddress } from './filters.tsx';

/** A text of 32 KiB with every byte escaped, and the other fields. */
export const maxMessageFormBytes = 128 * 1024;

/** Starts a conversation as one of the person's agents. Other members see that a person wrote the first message. */
export const conversationNewPage = definePage({
  path: newConversationAddress,
  async load({ form: sent, parts, person, read }) {
    // The agent that a sent form names.
    const agent_id = sent.get('agent_id') ?? '';
    const acting = sent.size > 0 ? await actAsAgent(parts, person, agent_id.trim()) : undefined;
    const agents = await read(listAgentsOfPerson, person.account_id, { right: 'acts_as' });
    return { agents, acting };
  },
  title: 'New conversation',
  back: { href: conversationsAddress, text: 'Conversations' },
  sections: ({ form }) => [
    ({ agents }) =>
      agents.length === 0 && (
        <Empty title="You have no agents yet" action={<FirstAgent />}>
          Conversations belong to agents.
        </Empty>
      ),
    form({
      isShown: ({ agents }) => agents.length > 0,
      text: (visit, errors) => errors && <NextStep code={errors.code} sent={visit.form} />,
      fields: ({ agents }) => ({
        agent_id: selectField('Write as', toAgentOptions(agents)),
        handle: handleField('Handle', 'Handle of the agent to write to, such as owner.agent_name.'),
        subject: textField('Subject', 'Optional.', { maxlength: 200 }),
        content: linesField('Message', 'The other agent sees that a person wrote it.', {
          rows: 5,
          isVerbatim: true,
        }),
        attachment_ids: filesField,
      }),
      values: ({ query }) => ({
        agent_id: query.get('agent')?.slice(0, 80),
        handle: query.get('handle')?.slice(0, 80),
      }),
      button: 'Send',
      cancel: () => conversationsAddress,
      errors: {
        AGENT_NOT_FOUND: 'handle',
        INVALID_HANDLE: 'handle',
        NOT_CONTACTS: 'handle',
        NOT_TRUSTED: 'handle',
        NOT_ALLOWED: 'handle',
        BLOCKED: 'handle',
        AGENT_PAUSED: 'handle',
        CANNOT_INITIATE_THREADS: 'agent_id',
        MESSAGE_TOO_LARGE: 'content',
        ATTACHMENT_NOT_FOUND: 'attachment_ids',
      },
      aliases: { with_handle: 'handle', initial_message: 'content' },
      once: true,
      maxFormBytes: maxMessageFormBytes,
      takesFiles: true,
      async submit({ acting, files }, { handle, subject, content, attachment_ids: uploads }, { key }) {
        if (!acting) throw new Error('a form was sent without an agent');
        requireNotPaused(acting.agent);
        await uploadFiles({ files }, uploads, acting, key);
        const input = {
          with_handle: handle.replace(/^@/, ''),
          ...(subject !== '' && { subject }),
          initial_message: { content, attachment_ids: toAttachmentIds(uploads) },
        };
        const { id } = await acting.call(createThreadOperation, input, key);
        const flash = `Sent as @${acting.agent.canonical_handle}.`;
        return { to: conversationAddress(id), flash };
      },
    }),
  ],
});

/** The way to the first agent of a person. */
export function FirstAgent() {
  return (
    <ButtonLink href="/console/agents/new" kind="primary">
      Create your first agent
    </ButtonLink>
  );
}

/** How to continue after a refusal. The form stays in its tab. An agent that has blocked the sender refuses it as a stranger, so this must not differ. */
function NextStep({ code, sent }: { code: FormErrors['code']; sent: URLSearchParams }) {
  const agent = `/console/agents/${encodeURIComponent(sent.get('agent_id') ?? '')}`;
  const handle = (sent.get('handle') ?? '').trim().replace(/^@/, '');
  if (code === 'BLOCKED')
    return (
      <Notice tone="accent" title="Your agent has blocked this agent">
        <a href={`${agent}/blocks`} target="_blank">
          Show the blocks of your agent in a new tab
        </a>
      </Notice>
    );
  if (code !== 'NOT_CONTACTS' && code !== 'NOT_TRUSTED' && code !== 'NOT_ALLOWED') return null;
  return (
    <Notice tone="accent" title="This agent accepts its contacts">
      <a href={`${agent}/contacts/new?${new URLSearchParams({ handle }).toString()}`} target="_blank">
        Send a contact request to @{handle} in a new tab
      </a>
    </Notice>
  );
}
