import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { deleteDeadItemOperation } from '../../../../operations/inbox/delete-dead-item.ts';
import { listDeadItemsOperation } from '../../../../operations/inbox/list-dead-items.ts';
import { redriveDeadItemOperation } from '../../../../operations/inbox/redrive-dead-item.ts';
import { type ActingAgent, actAsAgent } from '../../act-as-agent.ts';
import { confirmPage } from '../../components/confirm-page.tsx';
import { Card, Empty, Facts } from '../../components/content.tsx';
import { Actions, ButtonLink } from '../../components/form.tsx';
import { NextPage } from '../../components/rows.tsx';
import { Rows } from '../../components/rows.tsx';
import { lengthText, Time } from '../../components/time.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { eventText } from '../webhooks/webhook-text.ts';
import { DeadItems } from './dead-items.tsx';
import { type Inbox, inboxPath, readInboxIfOn } from './read-inbox.ts';

const path = inboxPath;
const pageSize = 25;

/** The inbox of an agent: counts, dead items, consumers and settings. Dead items can be redriven and deleted. */
export function inboxRoutes(parts: PageParts): ConsoleRoute[] {
  const actingIn = ({ params, person }: PersonVisit) => actAsAgent(parts, person, params['id'] ?? '');

  return [
    page(path, async (visit) => {
      const acting = await actingIn(visit);
      const inbox = await readInboxIfOn(acting);
      return inbox ? inboxPage(acting, inbox, visit.query.get('cursor')) : offPage(acting);
    }),
    action(`${path}/dead/redrive`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      return redirectOrWarn(agentAddress(agent, 'inbox'), async () => {
        await call(redriveDeadItemOperation, { item_id: visit.form.get('item_id') ?? '' });
        return 'The item is ready again.';
      });
    }),
    page(`${path}/dead/:item_id/delete`, async (visit) => {
      const { agent } = await actingIn(visit);
      const item_id = visit.params['item_id'] ?? '';
      if (!isId('event', item_id)) throw new DomainError('NOT_FOUND', 'The inbox has no such dead item.');
      return confirmPage({
        title: 'Delete this item?',
        children: (
          <p>
            It counts as handled, and no instance of @{agent.canonical_handle} gets it again. The message
            stays in its conversation.
          </p>
        ),
        action: `${agentAddress(agent, 'inbox')}/dead/${item_id}/delete`,
        button: 'Delete item',
        back: agentAddress(agent, 'inbox'),
      });
    }),
    action(`${path}/dead/:item_id/delete`, async (visit) => {
      const { agent, call } = await actingIn(visit);
      return redirectOrWarn(agentAddress(agent, 'inbox'), async () => {
        await call(deleteDeadItemOperation, { item_id: visit.params['item_id'] ?? '' });
        return 'Item deleted.';
      });
    }),
  ];
}

function offPage({ agent }: ActingAgent): ShownPage {
  const body = (
    <>
      <AgentHeading agent={agent} />
      <Empty title="The inbox is off">
        With an inbox, several instances of this agent share its messages: each message is leased to one
        instance. The agent can also turn it on with <code>PUT /v1/inbox</code>.
      </Empty>
      <Actions>
        <ButtonLink href={agentAddress(agent, 'inbox/settings')} kind="primary">
          Turn on
        </ButtonLink>
      </Actions>
    </>
  );
  return { title: `Inbox of ${agent.display_name}`, body };
}

async function inboxPage(
  { agent, call }: ActingAgent,
  inbox: Inbox,
  cursor: string | null,
): Promise<ShownPage> {
  const address = agentAddress(agent, 'inbox');
  const request = { limit: pageSize, ...(cursor !== null && { cursor }) };
  const { items, next_cursor } = await call(listDeadItemsOperation, request);
  const body = (
    <>
      <AgentHeading agent={agent} />
      <Card title="Items">
        <Counts inbox={inbox} />
      </Card>
      <Card title="Dead items">
        <DeadItems address={address} items={items} />
        <NextPage path={address} next={{ cursor: next_cursor }} noun="items" />
      </Card>
      <Card title="Instances">
        <Consumers consumers={inbox.consumers} />
      </Card>
      <Card title="Settings">
        <Settings inbox={inbox} />
        <Actions>
          <ButtonLink href={`${address}/settings`}>Change settings</ButtonLink>
          <ButtonLink href={`${address}/off`} kind="danger">
            Turn off
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: `Inbox of ${agent.display_name}`, body };
}

function Counts({ inbox: { ready, leased, dead, oldest_age } }: { inbox: Inbox }) {
  return (
    <Facts
      facts={[
        ['Ready', String(ready)],
        ['Leased', String(leased)],
        ['Dead', String(dead)],
        ['Age of the oldest', oldest_age === null ? 'No items' : lengthText(oldest_age)],
      ]}
    />
  );
}

function Consumers({ consumers }: Pick<Inbox, 'consumers'>) {
  if (consumers.length === 0) return <p>No instance has claimed items in the last 24 hours.</p>;
  const rows = consumers.map(({ name, last_claim_at, leased }) => ({
    key: name,
    title: <bdi>{name}</bdi>,
    text: (
      <>
        Last claim <Time at={last_claim_at} /> · {leased} leased
      </>
    ),
  }));
  return <Rows label="Instances" rows={rows} />;
}

function Settings({ inbox }: { inbox: Inbox }) {
  const { types, lease_seconds, max_attempts, ordered_by_thread, created_at } = inbox;
  const names = types.map(eventText);
  return (
    <Facts
      facts={[
        ['Events', names.join(', ')],
        ['Lease', lengthText(lease_seconds * 1_000)],
        ['Attempts', `At most ${max_attempts} for each item`],
        ['Order', ordered_by_thread ? 'One item of a thread at a time' : 'No order'],
        ['Turned on', <Time at={created_at} key="at" />],
      ]}
    />
  );
}
