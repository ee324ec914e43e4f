import {
  type Credential,
  listCredentialsPage,
  requireCredential,
  revokeCredential,
} from '../../../../services/auth/credentials.ts';
import { Icon } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { Time } from '../../components/rows.tsx';
import { listSection, toPage } from '../../define/list.tsx';
import { agentConfirmation, agentPage, type AgentVisit } from '../agents/agent-page.tsx';
import { Scopes } from './scope-choices.tsx';

const pageSize = 25;
const isActive = ({ query }: AgentVisit) => query.get('show') !== 'revoked';

/** The credentials of an agent, for programs without a person. */
export const credentialsPage = agentPage({
  path: 'credentials',
  title: ({ agent }) => `Credentials of ${agent.display_name}`,
  sections: [
    listSection({
      title: (visit) => (isActive(visit) ? 'Credentials' : 'Revoked credentials'),
      label: 'Credentials',
      noun: 'credentials',
      empty: (visit) =>
        isActive(visit)
          ? {
              title: 'No credentials',
              text: 'A server uses a credential to act as this agent without a person.',
            }
          : 'No revoked credentials.',
      action: (visit) =>
        isActive(visit) && (
          <ButtonLink href={`${visit.address}/new`} kind="primary">
            New credential
          </ButtonLink>
        ),
      async read(visit) {
        const active = isActive(visit);
        const filter = { active, before: visit.query.get('before'), limit: pageSize + 1 };
        const found = await visit.read(listCredentialsPage, visit.agent.id, filter);
        return toPage(found, pageSize, (last) => ({
          ...(!active && { show: 'revoked' }),
          before: last.client_id,
        }));
      },
      row: ({ client_id, name, revoked_at, ...credential }, { address }) => ({
        key: client_id,
        mark: <Icon name="key" />,
        title: name ?? 'Unnamed',
        lines: [
          [<span class="code">{client_id}</span>],
          [<Scopes scopes={credential.scopes} />],
          [
            ['Created ', <Time at={credential.created_at} />],
            credential.last_used_at === null
              ? 'never used'
              : ['used ', <Time at={credential.last_used_at} />],
            credential.rotated_at !== null && ['secret of ', <Time at={credential.rotated_at} />],
          ],
        ],
        badges: [revoked_at !== null && ['plain', ['Revoked ', <Time at={revoked_at} />]]],
        buttons: [
          revoked_at === null && {
            label: 'Rotate',
            href: `${address}/${client_id}/rotate`,
            about: `the secret of ${name ?? client_id}`,
          },
          revoked_at === null && {
            label: 'Revoke',
            href: `${address}/${client_id}/revoke`,
            about: name ?? client_id,
          },
        ],
      }),
    }),
    (visit) => (
      <p class="aside">
        {isActive(visit) ? (
          <a href={`${visit.address}?show=revoked`}>Revoked credentials</a>
        ) : (
          <a href={visit.address}>Active credentials</a>
        )}
      </p>
    ),
  ],
});

/** Reads the credential of a page. @throws {DomainError} NOT_FOUND */
export async function loadCredential({
  read,
  agent,
  params,
}: AgentVisit): Promise<{ credential: Credential }> {
  return { credential: await read(requireCredential, agent.id, params['client_id'] ?? '') };
}

/** Revokes a credential and its tokens. */
export const credentialRevokePage = agentConfirmation({
  path: 'credentials/:client_id/revoke',
  load: loadCredential,
  title: ({ credential: { name, client_id } }) => `Revoke ${name ?? client_id}?`,
  text: ({ agent }) => (
    <p>
      Programs that use it to sign in as {agent.display_name} lose access immediately: tokens and open
      connections end. This cannot be undone. You can create a new credential.
    </p>
  ),
  button: 'Revoke',
  back: ({ agentPath }) => agentPath('credentials'),
  async change({ change, parts, agent, credential: { client_id, revoked_at } }) {
    if (revoked_at === null)
      await parts.publishRevocations(await change(revokeCredential, client_id, agent.id));
    return 'Credential revoked.';
  },
});
