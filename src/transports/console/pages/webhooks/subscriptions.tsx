import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import {
  endSubscription,
  type DescribedSubscription,
} from '../../../../services/event-subscriptions/subscribe.ts';
import { type AgentOfPerson, requireAgentOfPerson } from '../../../../services/people/agents.ts';
import { Badge, Card, Empty } from '../../components/content.tsx';
import { Button, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import { hostOf } from '../../hosts.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { eventText } from './webhook-text.ts';

const path = '/console/agents/:id/subscriptions';

/** The subscriptions of MCP clients to events of an agent, and ending them. */
export function subscriptionRoutes({ unitOfWork }: Pick<PageParts, 'unitOfWork'>): ConsoleRoute[] {
  return [
    page(path, ({ params, person }) =>
      unitOfWork.readAsSystem(async (repositories) => {
        const agent = await requireAgentOfPerson(
          repositories,
          person.account_id,
          params['id'] ?? '',
          'acts_as',
        );
        const found = await repositories.eventSubscriptions.listDescribed(agent.id, Date.now());
        return subscriptionsPage(agent, found);
      }),
    ),
    action(`${path}/end`, async ({ params, form, person }) => {
      const agent = await unitOfWork.readAsSystem((repositories) =>
        requireAgentOfPerson(repositories, person.account_id, params['id'] ?? '', 'acts_as'),
      );
      return redirectOrWarn(agentAddress(agent, 'subscriptions'), async () => {
        const id = form.get('subscription_id') ?? '';
        await unitOfWork.writeAsSystem(
          (work) => endSubscription(work, agent.id, id),
          authorFromPerson(person),
        );
        return 'Subscription ended.';
      });
    }),
  ];
}

function subscriptionsPage(agent: AgentOfPerson, subscriptions: readonly DescribedSubscription[]): ShownPage {
  const address = agentAddress(agent, 'subscriptions');
  const body = (
    <>
      <AgentHeading agent={agent} current={address} />
      {subscriptions.length === 0 ? (
        <Empty title="No subscriptions">
          MCP clients can subscribe to events of this agent and receive them at an address of their own.
        </Empty>
      ) : (
        <Card title="Event subscriptions">
          <p>
            MCP clients created them. A client can subscribe again until you disconnect it under{' '}
            <a href="/console/connections">Connected apps</a> or revoke its{' '}
            <a href={agentAddress(agent, 'credentials')}>credential</a>.
          </p>
          <Rows
            label="Event subscriptions"
            rows={subscriptions.map((one) => subscriptionRow(address, one))}
          />
        </Card>
      )}
    </>
  );
  return { title: `Subscriptions of ${agent.display_name}`, body };
}

function subscriptionRow(address: string, subscription: DescribedSubscription) {
  const { id, url, event_type, arguments: filter, last_delivery_at, created_at, expires_at } = subscription;
  const host = hostOf(url);
  const events = eventText(event_type);
  return {
    key: id,
    mark: <Icon name="globe" />,
    title: <bdi>{host}</bdi>,
    text: (
      <>
        {[events, ...describeFilter(filter)].join(' · ')}
        <br />
        Created <Time at={created_at} /> by <ClientName {...subscription} /> · ends <Time at={expires_at} />
        <br />
        {last_delivery_at === null ? (
          'Nothing delivered yet'
        ) : (
          <>
            Last delivery <Time at={last_delivery_at} />
          </>
        )}
        <Failure {...subscription} />
      </>
    ),
    side: (
      <>
        <State {...subscription} />
        <Form action={`${address}/end`} class="inline" hidden={{ subscription_id: id }}>
          <Button kind="quiet">
            End
            <span class="visually-hidden">
              {' '}
              {events} to {host}
            </span>
          </Button>
        </Form>
      </>
    ),
  };
}

/** The filters in words. The values come from the client. */
function describeFilter({ thread_id, with_handle, only_mentions }: Record<string, unknown>): string[] {
  return [
    ...(typeof thread_id === 'string' ? [`only the thread ${thread_id}`] : []),
    ...(typeof with_handle === 'string' ? [`only with ${with_handle}`] : []),
    ...(only_mentions === true ? ['only mentions'] : []),
  ];
}

function ClientName({ client_name, credential_name, client_id }: DescribedSubscription) {
  if (credential_name !== null)
    return (
      <>
        the credential <bdi>{credential_name || client_id}</bdi>
      </>
    );
  if (client_name === null) return <>a token</>;
  return (
    <>
      an app that claims to be <bdi>{client_name}</bdi>
    </>
  );
}

function State({ active, failed_since }: DescribedSubscription) {
  if (!active) return <Badge tone="danger">Paused</Badge>;
  return failed_since === null ? <Badge tone="good">Active</Badge> : <Badge tone="warning">Retrying</Badge>;
}

const failureText: Readonly<Record<string, string>> = {
  connection_refused: 'the address cannot be reached',
  timeout: 'the address did not answer in time',
  tls_error: 'the certificate of the address is not valid',
  http_4xx: 'the address refused the event',
  http_5xx: 'the address answered with an error',
  challenge_failed: 'the address did not confirm the subscription',
};

function Failure({ failed_since, last_error }: DescribedSubscription) {
  if (failed_since === null) return null;
  return (
    <>
      {' '}
      · failing since <Time at={failed_since} />: {failureText[last_error ?? ''] ?? 'the delivery failed'}
    </>
  );
}
