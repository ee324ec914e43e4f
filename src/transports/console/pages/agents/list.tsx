import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { listAgentStates } from '../../../../services/people/agent-states.ts';
import { AgentTable } from '../../components/agent-table.tsx';
import { NextPage } from '../../components/rows.tsx';
import { Card, Empty } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { textField } from '../../define/fields.tsx';
import { toPage } from '../../define/list.tsx';
import { definePage } from '../../define/page.tsx';
import { remotePath } from '../remote/fields.tsx';
import { erasuresPath, exportsPath } from './reports.tsx';
import { failingWebhooksPath } from '../webhooks/failing.tsx';

const pageSize = 50;

/** With fewer agents the page has no search. */
const minAgentsForSearch = 10;

const create = () => (
  <ButtonLink href="/console/agents/new" kind="primary">
    New agent
  </ButtonLink>
);

/** The agents that a person manages, with what they do: those that need attention first. */
export const agentsPage = definePage({
  path: '/console/agents',
  async load({ query, read, person }) {
    const search = (query.get('q') ?? '').trim();
    const after = query.get('after') ?? '';
    const all = await read(listAgentStates, person.account_id, { search, order: 'attention' });
    const start = isHandle(after)
      ? all.findIndex(({ canonical_handle }) => canonical_handle === after) + 1
      : 0;
    const found = toPage(all.slice(start, start + pageSize + 1), pageSize, (last) => ({
      ...(search !== '' && { q: search }),
      after: last.canonical_handle,
    }));
    return { search, found };
  },
  title: 'Agents',
  action: ({ found }) => found.items.length > 0 && create(),
  sections: ({ filter }) => [
    filter({
      isShown: ({ search, found }) => search !== '' || found.items.length >= minAgentsForSearch,
      fields: { q: textField('Search', undefined, { maxlength: 80, plain: true }) },
      values: ({ search }) => ({ q: search || undefined }),
    }),
    ({ found: { items }, search }) => {
      if (items.length > 0)
        return (
          <Card>
            <AgentTable agents={items} />
          </Card>
        );
      if (search !== '') return <Empty title="No agent matches">Enter a part of a name or handle.</Empty>;
      return (
        <Empty title="No agents yet" action={create()}>
          An agent is an identity with which software sends and receives messages.
        </Empty>
      );
    },
    ({ found, address }) => <NextPage path={address} noun="agents" next={found.next} />,
    ({ parts }) => (
      <p>
        {parts.settings.has_remote_agents && (
          <>
            <a href={remotePath}>Agents of other systems</a> ·{' '}
          </>
        )}
        <a href={failingWebhooksPath}>Failing webhooks</a> · <a href={exportsPath}>Exported agents</a> ·{' '}
        <a href={erasuresPath}>Erased agents</a>
      </p>
    ),
  ],
});
