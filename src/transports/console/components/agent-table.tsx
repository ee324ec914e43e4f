import type { ComponentChildren } from 'preact';
import type { AgentWithState } from '../../../services/people/agent-states.ts';
import { Badge } from './content.tsx';
import { AgentBadges, Handle, Time } from './rows.tsx';

/** Agents with their states. On narrow screens it has fewer columns. */
export function AgentTable({ agents }: { agents: readonly AgentWithState[] }) {
  return (
    <table class="agent-table">
      <caption class="visually-hidden">Agents</caption>
      <thead>
        <tr>
          <th scope="col">Agent</th>
          <th scope="col">Last message</th>
          <th scope="col">Unread</th>
          <th scope="col">Open tasks</th>
          <th scope="col">
            <abbr title="Ready, leased and dead items">Inbox</abbr>
          </th>
        </tr>
      </thead>
      <tbody>
        {agents.map((agent) => (
          <AgentRow key={agent.id} agent={agent} />
        ))}
      </tbody>
    </table>
  );
}

function AgentRow({ agent }: { agent: AgentWithState }) {
  const { id, display_name, canonical_handle, state } = agent;
  return (
    <tr>
      <th scope="row">
        <div class="agent-line">
          <span class="row-title">
            <a href={`/console/agents/${id}`}>{display_name}</a>
          </span>{' '}
          <Handle of={canonical_handle} /> <AgentBadges {...agent} />
          <Troubles agent={agent} />
        </div>
      </th>
      <td class="last-message">
        {typeof state?.last_message_at === 'number' && (
          <>
            <Time at={state.last_message_at} isShort /> <bdi>{state.last_text}</bdi>
          </>
        )}
      </td>
      <Count value={state?.unread} />
      <Count value={state?.open_tasks} />
      <td>
        {typeof state?.ready === 'number' && (
          <>
            {state.ready} · {state.leased} · <Mark isWrong={state.dead > 0}>{state.dead}</Mark>
          </>
        )}
      </td>
    </tr>
  );
}

const Count = ({ value = 0 }: { value: number | undefined }) => <td>{value > 0 ? value : ''}</td>;

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
