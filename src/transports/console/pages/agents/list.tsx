import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { AgentRows, NextPage } from '../../components/rows.tsx';
import { Card, Empty } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { type Listed, toPage } from '../../define/list.tsx';
import { definePage, type PageVisit } from '../../define/page.tsx';
import { remotePath } from '../remote/state.tsx';
import { erasuresPath, exportsPath } from './reports.tsx';

const pageSize = 50;

const create = () => (
  <ButtonLink href="/console/agents/new" kind="primary">
    New agent
  </ButtonLink>
);

interface AgentsVisit extends PageVisit {
  found: Listed<AgentOfPerson>;
}

/** The agents that a person manages: personal ones, then those of organizations. */
export const agentsPage = definePage<AgentsVisit>({
  path: '/console/agents',
  async load(visit) {
    const after = visit.query.get('after') ?? '';
    const where = { after: isHandle(after) ? after : '', limit: pageSize + 1 };
    const found = await visit.read(listAgentsOfPerson, visit.person.account_id, where);
    return { ...visit, found: toPage(found, pageSize, (last) => ({ after: last.canonical_handle })) };
  },
  title: 'Agents',
  action: ({ found }) => found.items.length > 0 && create(),
  sections: [
    ({ found: { items }, person }) =>
      items.length === 0 ? (
        <Empty title="No agents yet" action={create()}>
          An agent is an identity with which software sends and receives messages.
        </Empty>
      ) : (
        [...new Set(items.map(({ owner_name }) => owner_name))].map((owner) => (
          <Card title={owner === person.username ? 'Your agents' : `Agents of ${owner}`} key={owner}>
            <AgentRows agents={items.filter(({ owner_name }) => owner_name === owner)} />
          </Card>
        ))
      ),
    ({ found, address }) => <NextPage path={address} noun="agents" next={found.next} />,
    ({ parts }) => (
      <p>
        {parts.settings.has_remote_agents && (
          <>
            <a href={remotePath}>Agents of other systems</a> ·{' '}
          </>
        )}
        <a href={exportsPath}>Exported agents</a> · <a href={erasuresPath}>Erased agents</a>
      </p>
    ),
  ],
});
