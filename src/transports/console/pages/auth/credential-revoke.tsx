import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
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

/** Revokes a credential and its tokens. */
export function credentialRevokeRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, publishRevocations } = parts;
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      const client_id = params['client_id'] ?? '';
      return revokePage(
        agent,
        await unitOfWork.readAsSystem((repositories) => requireCredential(repositories, agent.id, client_id)),
      );
    }),
    action(path, async ({ params, person }) => {
      const { revoked, agent } = await unitOfWork.writeAsSystem(async (work) => {
        const own = await requireAgentOfPerson(work, person.account_id, params['id'] ?? '', 'acts_as');
        const { client_id, revoked_at } = await requireCredential(work, own.id, params['client_id'] ?? '');
        const tokens = revoked_at === null ? await revokeCredential(work, client_id, own.id) : [];
        return { revoked: tokens, agent: own };
      }, authorFromPerson(person));
      await publishRevocations(revoked);
      return { to: agentAddress(agent, 'credentials'), flash: successFlash('Credential revoked.') };
    }),
  ];
}

function revokePage(agent: AgentOfPerson, { client_id, name }: Credential): ShownPage {
  const list = agentAddress(agent, 'credentials');
  return confirmPage({
    title: `Revoke ${name ?? client_id}?`,
    children: (
      <p>
        Programs that use it to sign in as {agent.display_name} lose access immediately: tokens and open
        connections end. This cannot be undone. You can create a new credential.
      </p>
    ),
    action: `${list}/${client_id}/revoke`,
    button: 'Revoke',
    back: list,
  });
}
