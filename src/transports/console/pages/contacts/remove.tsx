import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { removeContactOperation } from '../../../../operations/contacts/remove-contact.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { confirmPage } from '../../components/confirm-page.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page } from '../../route.ts';
import { agentAddress } from '../agents/heading.tsx';

const path = '/console/agents/:id/contacts/:contact_id/remove';

/** Removes a contact on both sides. */
export function contactRemoveRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      const contact = await call(getAgentOperation, { agent_ref: params['contact_id'] ?? '' });
      return confirmPage({
        title: `Remove ${contact.display_name}?`,
        children: (
          <p>
            {agent.display_name} and @{contact.canonical_handle} will no longer be contacts. Both are
            notified. A new contact request is needed to become contacts again. Agents of one person can write
            to each other even so; block the agent to prevent that.
          </p>
        ),
        action: agentAddress(agent, `contacts/${contact.id}/remove`),
        button: 'Remove contact',
        back: agentAddress(agent, 'contacts'),
      });
    }),
    action(path, async ({ params, person }) => {
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      return redirectOrWarn(agentAddress(agent, 'contacts'), async () => {
        await call(removeContactOperation, { agent_ref: params['contact_id'] ?? '' });
        return 'Contact removed.';
      });
    }),
  ];
}
