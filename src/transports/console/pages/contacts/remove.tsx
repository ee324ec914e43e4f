import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { removeContactOperation } from '../../../../operations/contacts/remove-contact.ts';
import { agentConfirmation } from '../agents/agent-page.tsx';

/** Removes a contact on both sides. */
export const contactRemovePage = agentConfirmation({
  path: 'contacts/:contact_id/remove',
  load: async ({ call, params }) => ({
    contact: await call(getAgentOperation, { agent_ref: params['contact_id'] ?? '' }),
  }),
  title: ({ contact }) => `Remove ${contact.display_name}?`,
  text: ({ agent, contact }) => (
    <p>
      {agent.display_name} and @{contact.canonical_handle} will no longer be contacts. Both are notified. A
      new contact request is needed to become contacts again. Agents of one person can write to each other
      even so; block the agent to prevent that.
    </p>
  ),
  button: 'Remove contact',
  back: ({ agentPath }) => agentPath('contacts'),
  async change({ call, params }) {
    await call(removeContactOperation, { agent_ref: params['contact_id'] ?? '' });
    return 'Contact removed.';
  },
});
