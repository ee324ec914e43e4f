import { byPerson } from '../../domain/audit.ts';
import { type Credential, credentialOf, revokeCredential } from '../../services/credentials.ts';
import { type AgentOfPerson, agentOfPerson } from '../../services/person-agents.ts';
import { actingAs } from '../acting.ts';
import { said } from '../flash.ts';
import { confirmPage } from '../kit/confirm.tsx';
import type { PageParts } from '../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';
import { agentAddress } from './agent-heading.tsx';

const path = '/console/agents/:id/credentials/:client_id/revoke';

/** Revoking a credential, with the tokens that it got. */
export function credentialRevokeRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, announce } = parts;
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await actingAs(parts, person, params['id'] ?? '');
      const client_id = params['client_id'] ?? '';
      return revokePage(agent, await unitOfWork.consult((all) => credentialOf(all, agent.id, client_id)));
    }),
    action(path, async ({ params, person }) => {
      const { ended, agent } = await unitOfWork.administer(async (work) => {
        const mine = await agentOfPerson(work, person.account_id, params['id'] ?? '', 'acts_as');
        const { client_id, revoked_at } = await credentialOf(work, mine.id, params['client_id'] ?? '');
        const gone = revoked_at === null ? await revokeCredential(work, client_id, mine.id) : [];
        return { ended: gone, agent: mine };
      }, byPerson(person));
      await announce(ended);
      return { to: agentAddress(agent, 'credentials'), flash: said('The credential is revoked.') };
    }),
  ];
}

function revokePage(agent: AgentOfPerson, { client_id, name }: Credential): ShownPage {
  const list = agentAddress(agent, 'credentials');
  return confirmPage({
    title: `Revoke ${name ?? client_id}?`,
    children: (
      <p>
        Whatever signs in with it as {agent.display_name} is shut out at once: its tokens and open connections
        end. It cannot be undone; you can make a new credential.
      </p>
    ),
    action: `${list}/${client_id}/revoke`,
    button: 'Revoke it',
    back: list,
  });
}
