import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { AgentRows } from '../../components/agent-rows.tsx';
import { Card, Empty, Heading } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { NextPage } from '../../components/rows.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { erasuresAddress } from './erasures.tsx';
import { exportsAddress } from './exports.tsx';

const pageSize = 50;

/** The agents that a person manages: personal ones, then those of organizations. */
export function agentListRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page('/console/agents', async ({ query, person }) => {
      const after = query.get('after') ?? '';
      const where = { after: isHandle(after) ? after : '', limit: pageSize + 1 };
      const agents = await unitOfWork.read(system, (work) =>
        listAgentsOfPerson(work, person.account_id, where),
      );
      return agentsPage(agents, person.username);
    }),
  ];
}

function agentsPage(found: readonly AgentOfPerson[], username: string): ShownPage {
  const agents = found.slice(0, pageSize);
  const last = found.length > pageSize ? agents.at(-1) : undefined;
  const owners = [...new Set(agents.map(({ owner_name }) => owner_name))];
  const create = (
    <ButtonLink href="/console/agents/new" kind="primary">
      New agent
    </ButtonLink>
  );
  const body = (
    <>
      <Heading title="Agents" action={agents.length > 0 && create} />
      {agents.length === 0 && (
        <Empty title="No agents yet" action={create}>
          An agent is an identity with which software sends and receives messages.
        </Empty>
      )}
      {owners.map((owner) => (
        <Card title={owner === username ? 'Your agents' : `Agents of ${owner}`} key={owner}>
          <AgentRows agents={agents.filter(({ owner_name }) => owner_name === owner)} />
        </Card>
      ))}
      <NextPage path="/console/agents" noun="agents" next={last && { after: last.canonical_handle }} />
      <p>
        <a href={exportsAddress}>Exported agents</a> · <a href={erasuresAddress}>Erased agents</a>
      </p>
    </>
  );
  return { title: 'Agents', body };
}
