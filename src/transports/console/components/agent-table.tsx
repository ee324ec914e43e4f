import type { ComponentChildren } from 'preact';
import type { AgentWithState } from '../../../services/people/agent-states.ts';
import { Badge } from './content.tsx';
import { AgentBadges, Handle, Time } from './rows.tsx';
import { type Column, Table } from './table.tsx';

/** Agents with their states. On narrow screens it has fewer columns. */
export function AgentTable({ agents }: { agents: readonly AgentWithState[] }) {
  return (
    <Table class="agent-table" caption="Agents" columns={columns} items={agents} keyOf={({ id }) => id} />
  );
}

const columns: readonly Column<AgentWithState>[] = [
  {
    title: 'Agent',
    cell: (agent) => (
      <div class="agent-line">
        <span class="row-title">
          <a href={`/console/agents/${agent.id}`}>{agent.display_name}</a>
        </span>{' '}
        <Handle of={agent.canonical_handle} /> <AgentBadges {...agent} />
        <Troubles agent={agent} />
      </div>
    ),
  },
  {
    title: 'Last message',
    class: 'last-message',
    cell: ({ state }) =>
      typeof state?.last_message_at === 'number' && (
        <>
          <Time at={state.last_message_at} isShort /> <bdi>{state.last_text}</bdi>
        </>
      ),
  },
  { title: 'Unread', isNumber: true, cell: ({ state }) => state?.unread || '' },
  { title: 'Open tasks', isNumber: true, cell: ({ state }) => state?.open_tasks || '' },
  {
    title: <abbr title="Ready, leased and dead items">Inbox</abbr>,
    isNumber: true,
    cell: ({ state }) =>
      typeof state?.ready === 'number' && (
        <>
          {state.ready} · {state.leased} · <Mark isWrong={state.dead > 0}>{state.dead}</Mark>
        </>
      ),
  },
];

function Mark({ isWrong, children }: { isWrong: boolean; children: ComponentChildren }) {
  return isWrong ? <strong class="wrong">{children}</strong> : <>{children}</>;
}

/** Badges for failures, with links to the pages where they are mended. */
function Troubles({ agent: { id, state } }: { agent: AgentWithState }) {
  if (!state) return null;
  const { dead, failing_webhooks, overdue_tasks, secret_ends_at } = state;
  const link = (page: string, text: string) => (
    <a href={`/console/agents/${id}/${page}`}>
      <Badge tone="danger">{text}</Badge>
    </a>
  );
  return (
    <>
      {dead > 0 && [' ', link('inbox', dead === 1 ? '1 dead item' : `${dead} dead items`)]}
      {failing_webhooks > 0 && [' ', link('webhooks', 'Webhook failed')]}
      {overdue_tasks > 0 && [' ', <Badge tone="danger">Task overdue</Badge>]}
      {secret_ends_at !== null && [
        ' ',
        <a href={`/console/agents/${id}/credentials`}>
          <Badge tone="warning">
            Secret ends <Time at={secret_ends_at} />
          </Badge>
        </a>,
      ]}
    </>
  );
}
