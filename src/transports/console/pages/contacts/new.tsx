import { requestContactOperation } from '../../../../operations/contacts/request-contact.ts';
import { requireNotPaused } from '../../act-as-agent.ts';
import { handleField, linesField } from '../../define/fields.tsx';
import { formSection } from '../../define/form.tsx';
import { successFlash } from '../../flash.ts';
import { agentPage } from '../agents/agent-page.tsx';

/** Sends a contact request to another agent. */
export const contactNewPage = agentPage({
  path: 'contacts/new',
  tab: 'contacts',
  title: 'Send contact request',
  sections: [
    formSection({
      title: 'Send contact request',
      fields: {
        handle: handleField('Handle', 'Handle of the other agent, such as owner.agent_name.'),
        message: linesField('Message', 'Who you are and why you want to connect. Optional.', {
          rows: 3,
          maxlength: 500,
        }),
      },
      values: ({ query }) => ({ handle: (query.get('handle') ?? '').slice(0, 80) }),
      button: 'Send request',
      cancel: ({ agentPath }) => agentPath('contacts'),
      errors: {
        AGENT_NOT_FOUND: 'handle',
        INVALID_HANDLE: 'handle',
        AGENT_PAUSED: 'handle',
        NOT_TRUSTED: 'handle',
        NOT_ALLOWED: 'handle',
        BLOCKED: 'handle',
      },
      async submit({ agent, call, agentPath }, { handle, message }) {
        requireNotPaused(agent);
        const { to, status } = await call(requestContactOperation, { handle, message: message || null });
        const text =
          status === 'approved'
            ? `@${to.canonical_handle} is now a contact.`
            : `Sent a contact request to @${to.canonical_handle}.`;
        return { to: agentPath('contacts'), flash: successFlash(text) };
      },
    }),
  ],
});
