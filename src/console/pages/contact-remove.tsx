import { getAgentOperation } from '../../operations/get-agent.ts';
import { removeContactOperation } from '../../operations/remove-contact.ts';
import { actingAs } from '../acting.ts';
import { confirmPage } from '../kit/confirm.tsx';
import { orWarning } from '../or-warning.ts';
import type { PageParts } from '../parts.ts';
import { action, type ConsoleRoute, page } from '../route.ts';
import { agentAddress } from './agent-heading.tsx';

const path = '/console/agents/:id/contacts/:contact_id/remove';

/** Ending a contact, for both sides. */
export function contactRemoveRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent, call } = await actingAs(parts, person, params['id'] ?? '');
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
      const { agent, call } = await actingAs(parts, person, params['id'] ?? '');
      return orWarning(agentAddress(agent, 'contacts'), async () => {
        await call(removeContactOperation, { agent_ref: params['contact_id'] ?? '' });
        return 'The contact is removed.';
      });
    }),
  ];
}
