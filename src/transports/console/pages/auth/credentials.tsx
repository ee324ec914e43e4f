import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { type Credential, listCredentialsPage } from '../../../../services/auth/credentials.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Badge, Card, Empty } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/rows.tsx';
import { Scopes } from './scope-choices.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const pageSize = 25;

/** The credentials of an agent, for programs without a person. */
export function credentialListRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page('/console/agents/:id/credentials', async ({ params, query, person }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      const active = query.get('show') !== 'revoked';
      const filter = { active, before: query.get('before'), limit: pageSize + 1 };
      const found = await parts.unitOfWork.readAsSystem((repositories) =>
        listCredentialsPage(repositories, agent.id, filter),
      );
      return credentialsPage(agent, found, active);
    }),
  ];
}

function credentialsPage(agent: AgentOfPerson, found: readonly Credential[], active: boolean): ShownPage {
  const address = agentAddress(agent, 'credentials');
  const credentials = found.slice(0, pageSize);
  const last = found.length > pageSize ? credentials.at(-1) : undefined;
  const next = last && { ...(!active && { show: 'revoked' }), before: last.client_id };
  const create = (
    <ButtonLink href={`${address}/new`} kind="primary">
      New credential
    </ButtonLink>
  );
  const body = (
    <>
      <AgentHeading agent={agent} current={address} />
      {active && credentials.length === 0 ? (
        <Empty title="No credentials" action={create}>
          A server uses a credential to act as this agent without a person.
        </Empty>
      ) : (
        <Card title={active ? 'Credentials' : 'Revoked credentials'} action={active && create}>
          {credentials.length === 0 ? (
            <p>No revoked credentials.</p>
          ) : (
            <Rows
              label="Credentials"
              rows={credentials.map((credential) => credentialRow(address, credential))}
            />
          )}
        </Card>
      )}
      <NextPage path={address} next={next} noun="credentials" />
      <p class="aside">
        {active ? (
          <a href={`${address}?show=revoked`}>Revoked credentials</a>
        ) : (
          <a href={address}>Active credentials</a>
        )}
      </p>
    </>
  );
  return { title: `Credentials of ${agent.display_name}`, body };
}

function credentialRow(address: string, credential: Credential) {
  const { client_id, name, scopes, created_at, last_used_at, revoked_at, rotated_at } = credential;
  return {
    key: client_id,
    mark: <Icon name="key" />,
    title: name ?? 'Unnamed',
    text: (
      <>
        <span class="code">{client_id}</span>
        <br />
        <Scopes scopes={scopes} />
        <br />
        Created <Time at={created_at} /> ·{' '}
        {last_used_at === null ? (
          'never used'
        ) : (
          <>
            used <Time at={last_used_at} />
          </>
        )}
        {rotated_at !== null && (
          <>
            {' '}
            · secret of <Time at={rotated_at} />
          </>
        )}
      </>
    ),
    side:
      revoked_at === null ? (
        <>
          <ButtonLink href={`${address}/${client_id}/rotate`}>
            Rotate<span class="visually-hidden"> the secret of {name ?? client_id}</span>
          </ButtonLink>
          <ButtonLink href={`${address}/${client_id}/revoke`}>
            Revoke<span class="visually-hidden"> {name ?? client_id}</span>
          </ButtonLink>
        </>
      ) : (
        <Badge>
          Revoked <Time at={revoked_at} />
        </Badge>
      ),
  };
}
