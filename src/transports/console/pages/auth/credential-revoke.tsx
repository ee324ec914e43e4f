import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import {
  type Credential,
  requireCredential,
  revokeCredential,
} from '../../../../services/auth/credentials.ts';
import { type AgentOfPerson, requireAgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import { confirmPage } from '../../components/confirm-page.tsx';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress } from '../agents/heading.tsx';

const path = '/console/agents/:id/credentials/:client_id/revoke';

/** Revoking a credential, with the tokens that it got. */
export function credentialRevokeRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, publishRevocations } = parts;
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      const client_id = params['client_id'] ?? '';
      return revokePage(
        agent,
        await unitOfWork.readAsSystem((all) => requireCredential(all, agent.id, client_id)),
      );
    }),
    action(path, async ({ params, person }) => {
      const { ended, agent } = await unitOfWork.writeAsSystem(async (work) => {
        const mine = await requireAgentOfPerson(work, person.account_id, params['id'] ?? '', 'acts_as');
        const { client_id, revoked_at } = await requireCredential(work, mine.id, params['client_id'] ?? '');
        const gone = revoked_at === null ? await revokeCredential(work, client_id, mine.id) : [];
        return { ended: gone, agent: mine };
      }, authorFromPerson(person));
      await publishRevocations(ended);
      return { to: agentAddress(agent, 'credentials'), flash: successFlash('The credential is revoked.') };
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
