import {
  asksPerson,
  countWaiting,
  findAskedAgent,
  type Waiting,
} from '../../../../services/people/waiting.ts';
import { Handle, monogram } from '../../components/agent-rows.tsx';
import { Badge } from '../../components/content.tsx';
import { Button, ButtonLink, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { requestText } from '../approvals/approval-text.ts';
import { conversationAddress } from '../conversations/filters.tsx';
import { titleOf } from '../conversations/rows.tsx';

/** The title of the home page, with the number of items that wait. */
export function homeTitle(waiting: Waiting): string {
  const count = countWaiting(waiting);
  return count === 0 ? 'Home' : `(${count}) Home`;
}

/** Everything that waits for the person, each with who asks, its age, and buttons for the answer. */
export function WaitingList({ waiting }: { waiting: Waiting }) {
  const title = `${homeTitle(waiting)} · Agent Messaging`;
  if (countWaiting(waiting) === 0)
    return (
      <p class="calm" data-title={title} id="waiting-none">
        Nothing waits for you.
      </p>
    );
  const rows = [
    ...waiting.approvals.map(toApprovalRow),
    ...waiting.requests.map(toRequestRow),
    ...waiting.threads.map(toThreadRow),
    ...waiting.webhooks.map(toWebhookRow),
    ...waiting.inboxes.map(toInboxRow),
  ];
  return (
    <div data-title={title} id="waiting-list">
      <Rows label="Waiting for you" rows={rows} id="waiting" />
    </div>
  );
}

function toApprovalRow(approval: Waiting['approvals'][number]) {
  const { id, agent_display_name, agent_handle, created_at, message } = approval;
  const address = `/console/approvals/${id}`;
  return {
    key: id,
    id,
    mark: monogram(agent_display_name),
    title: (
      <a href={address}>
        <bdi>{agent_display_name}</bdi> {requestText(approval)}
      </a>
    ),
    text: (
      <>
        <Badge tone="accent">Approval</Badge> <Handle of={agent_handle} /> · <Time at={created_at} />
        {message !== '' && <blockquote class="quote">{message}</blockquote>}
      </>
    ),
    side: (
      <Form action={address} class="button-pair">
        <Button name="decision" value="approve">
          Approve<span class="visually-hidden"> what @{agent_handle} asks</span>
        </Button>
        <Button kind="quiet" name="decision" value="deny">
          Deny<span class="visually-hidden"> what @{agent_handle} asks</span>
        </Button>
      </Form>
    ),
  };
}

function toRequestRow(request: Waiting['requests'][number]) {
  const { request_id, agent_id, agent_handle, from_handle, from_name, message, created_at, paused } = request;
  return {
    key: request_id,
    id: request_id,
    mark: monogram(from_name),
    title: (
      <a href={`/console/agents/${agent_id}/contacts`}>
        <bdi>{from_name}</bdi> wants to be a contact of @{agent_handle}
      </a>
    ),
    text: (
      <>
        <Badge tone="accent">Contact request</Badge> <Handle of={from_handle} /> · <Time at={created_at} />
        {message !== null && message !== '' && <blockquote class="quote">{message}</blockquote>}
      </>
    ),
    side: (
      <Form
        action={`/console/agents/${agent_id}/contacts/requests/decide`}
        class="button-pair"
        hidden={{ request_id }}
      >
        {!paused && (
          <Button name="decision" value="approve">
            Approve<span class="visually-hidden"> @{from_handle}</span>
          </Button>
        )}
        <Button kind="quiet" name="decision" value="reject">
          Reject<span class="visually-hidden"> @{from_handle}</span>
        </Button>
      </Form>
    ),
  };
}

function toThreadRow(thread: Waiting['threads'][number]) {
  const { id, last_message } = thread;
  const agent = findAskedAgent(thread);
  return {
    key: id,
    id,
    mark: monogram(titleOf(thread)),
    title: (
      <a href={conversationAddress(id)}>
        <bdi>{titleOf(thread)}</bdi>
      </a>
    ),
    text: last_message && (
      <>
        <Badge tone="warning">{asksPerson(thread) ? 'Asks a person' : 'No answer yet'}</Badge>{' '}
        {agent && <Handle of={agent.canonical_handle} />} · <Time at={last_message.created_at} />
        <p class="preview">
          <Handle of={last_message.sender_handle} />: <bdi>{last_message.preview}</bdi>
        </p>
      </>
    ),
    side: (
      <ButtonLink href={`${conversationAddress(id)}#write`} kind="primary">
        Answer<span class="visually-hidden"> {titleOf(thread)}</span>
      </ButtonLink>
    ),
  };
}

function toWebhookRow({
  id,
  agent_id,
  agent_handle,
  url,
  description,
  disabled_at,
}: Waiting['webhooks'][number]) {
  const address = `/console/agents/${agent_id}/webhooks/${id}`;
  const name = description || new URL(url).host;
  return {
    key: id,
    id,
    mark: <Icon name="alert" />,
    title: (
      <a href={address}>
        Webhook <bdi>{name}</bdi> was disabled
      </a>
    ),
    text: (
      <>
        <Badge tone="danger">Webhook</Badge> <Handle of={agent_handle} /> · <Time at={disabled_at} />
      </>
    ),
    side: (
      <Form action={`${address}/state`} class="inline" hidden={{ enabled: 'true' }}>
        <Button>
          Enable<span class="visually-hidden"> {name}</span>
        </Button>
      </Form>
    ),
  };
}

/** The maximum that is counted. */
const maxDeadItems = 100;

function toInboxRow({ agent_id, agent_handle, agent_name, dead, since }: Waiting['inboxes'][number]) {
  const address = `/console/agents/${agent_id}/inbox`;
  const count = dead === 1 ? '1 dead item' : `${dead}${dead === maxDeadItems ? ' or more' : ''} dead items`;
  return {
    key: agent_id,
    id: `inbox-${agent_id}`,
    mark: <Icon name="alert" />,
    title: (
      <a href={address}>
        The inbox of <bdi>{agent_name}</bdi> has {count}
      </a>
    ),
    text: (
      <>
        <Badge tone="danger">Inbox</Badge> <Handle of={agent_handle} /> · <Time at={since} />
      </>
    ),
    side: (
      <ButtonLink href={address} kind="primary">
        Review<span class="visually-hidden"> the dead items of @{agent_handle}</span>
      </ButtonLink>
    ),
  };
}
