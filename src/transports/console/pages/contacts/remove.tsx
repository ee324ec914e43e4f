import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { removeContactOperation } from '../../../../operations/contacts/remove-contact.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { confirmPage } from '../../components/confirm-page.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page } from '../../route.ts';
import { agentAddress } from '../agents/heading.tsx';

const path = '/console/agents/:id/contacts/:contact_id/remove';

/** Ending a contact, for both sides. */
export function contactRemoveRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      const contact = await call(getAgentOperation, { agent_ref: params['contact_id'] ?? '' });
      return confirmPage({
        title: `Remove ${contact.display_name}?`,
        children: (
          <p>
            {agent.display_name} and @{contact.canonical_handle} are contacts no longer, on either side, and
            both are told. To be contacts again, one of them has to ask.
          </p>
        ),
        action: agentAddress(agent, `contacts/${contact.id}/remove`),
        button: 'Remove the contact',
        back: agentAddress(agent, 'contacts'),
      });
    }),
    action(path, async ({ params, person }) => {
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      return redirectOrWarn(agentAddress(agent, 'contacts'), async () => {
        await call(removeContactOperation, { agent_ref: params['contact_id'] ?? '' });
        return 'The contact is removed.';
      });
    }),
  ];
}
