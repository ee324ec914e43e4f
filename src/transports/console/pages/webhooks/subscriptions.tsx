import {
  type DescribedSubscription,
  endSubscription,
  listSubscriptions,
} from '../../../../services/event-subscriptions/subscribe.ts';
import { Time } from '../../components/rows.tsx';
import { hostOf } from '../../hosts.ts';
import { agentPage } from '../agents/agent-page.tsx';
import { eventText } from './fields.tsx';

/** The subscriptions of MCP clients to events of an agent, and ending them. */
export const subscriptionsPage = agentPage({
  path: 'subscriptions',
  title: ({ agent }) => `Subscriptions of ${agent.display_name}`,
  sections: ({ list }) => [
    list({
      title: 'Event subscriptions',
      empty: {
        title: 'No subscriptions',
        text: 'MCP clients can subscribe to events of this agent and receive them at an address of their own.',
      },
      text: ({ agentPath }) => (
        <p>
          MCP clients created them. A client can subscribe again until you disconnect it under{' '}
          <a href="/console/connections">Connected apps</a> or revoke its{' '}
          <a href={agentPath('credentials')}>credential</a>.
        </p>
      ),
      read: ({ read, agent }) => read(listSubscriptions, agent.id),
      row: (subscription) => ({
        key: subscription.id,
        title: <bdi>{hostOf(subscription.url)}</bdi>,
        lines: describe(subscription),
        badges: [stateOf(subscription)],
        buttons: [
          {
            label: 'End',
            action: 'end',
            hidden: { subscription_id: subscription.id },
            about: `${eventText(subscription.event_type)} to ${hostOf(subscription.url)}`,
          },
        ],
      }),
    }),
  ],
  changes: {
    async end({ write, agent, form }) {
      await write(endSubscription, agent.id, form.get('subscription_id') ?? '');
      return 'Subscription ended.';
    },
  },
});

function describe(subscription: DescribedSubscription) {
  const { last_delivery_at, created_at, expires_at, failed_since, last_error } = subscription;
  const failure = failureText[last_error ?? ''] ?? 'the delivery failed';
  return [
    [eventText(subscription.event_type), ...describeFilter(subscription.arguments)],
    [
      ['Created ', <Time at={created_at} />, ' by ', <ClientName {...subscription} />],
      ['ends ', <Time at={expires_at} />],
    ],
    [
      last_delivery_at === null
        ? 'Nothing delivered yet'
        : ['Last delivery ', <Time at={last_delivery_at} />],
      failed_since !== null && ['failing since ', <Time at={failed_since} />, `: ${failure}`],
    ],
  ];
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
  if (credential_name === null && client_name === null) return <>a token</>;
  return (
    <>
      {credential_name === null ? 'an app that claims to be ' : 'the credential '}
      <bdi>{credential_name === null ? client_name : credential_name || client_id}</bdi>
    </>
  );
}

function stateOf({ active, failed_since }: DescribedSubscription) {
  if (!active) return ['danger', 'Paused'] as const;
  return failed_since === null ? (['good', 'Active'] as const) : (['warning', 'Retrying'] as const);
}

const failureText: Readonly<Record<string, string>> = {
  connection_refused: 'the address cannot be reached',
  timeout: 'the address did not answer in time',
  tls_error: 'the certificate of the address is not valid',
  http_4xx: 'the address refused the event',
  http_5xx: 'the address answered with an error',
  challenge_failed: 'the address did not confirm the subscription',
};
