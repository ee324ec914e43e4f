import type { AuthorizationRequest } from '../../../http/authorization-requests.ts';
import { hostOf, isScheme } from '../../hosts.ts';
import { Badge, Facts, Notice } from '../../components/content.tsx';
import { Icon } from '../../components/icon.tsx';
import { audienceNames } from './scope-text.ts';

type Client = AuthorizationRequest['client'];

/** Who asks. What the client says of itself is kept apart from what is certain: where the answer goes. */
export function ClientFacts({ client, audience }: Pick<AuthorizationRequest, 'client' | 'audience'>) {
  const { name, uri, kind, client_id } = client;
  return (
    <div class="client">
      <div class="client-name">
        <span class="client-says">{kind === 'document' ? 'Its address is' : 'It says it is'}</span>
        <strong>
          <bdi>{kind === 'document' ? hostOf(client_id) : (name ?? 'an app without a name')}</bdi>
        </strong>
        {kind === 'document' ? (
          <Badge tone="good">Address verified</Badge>
        ) : (
          <Badge tone="warning">Not verified</Badge>
        )}
      </div>
      <Facts
        facts={[
          ...(kind === 'document' && name !== null
            ? [['It calls itself', <bdi key="name">{name}</bdi>] as const]
            : []),
          ['Your answer goes to', <Destination key="to" {...client} />],
          ...(uri !== null ? [['Home page, as it says', <bdi key="uri">{hostOf(uri)}</bdi>] as const] : []),
          ['It connects through', audienceNames[audience]],
        ]}
      />
    </div>
  );
}

function Destination({ loopback, redirect_host }: Pick<Client, 'loopback' | 'redirect_host'>) {
  if (loopback) {
    return (
      <span class="destination">
        <Icon name="computer" />
        <span>
          <strong>A program on this computer</strong>
          <br />
          <span class="code">{redirect_host}</span>
        </span>
      </span>
    );
  }
  const scheme = isScheme(redirect_host);
  return (
    <span class="destination">
      <Icon name={scheme ? 'computer' : 'globe'} />
      <span>
        {scheme && (
          <>
            <strong>An app on this device</strong>
            <br />
            that opens{' '}
          </>
        )}
        <strong class={scheme ? 'code' : 'host'}>{redirect_host}</strong>
      </span>
    </span>
  );
}

/** What to think of before pressing the button; in the words for where the answer goes. */
export function Caution({ loopback, redirect_host }: Pick<Client, 'loopback' | 'redirect_host'>) {
  const text =
    loopback || isScheme(redirect_host)
      ? 'Approve only if you have just begun to connect a program on this device yourself.'
      : `Whoever runs ${redirect_host} will be able to do this at any time, from anywhere. Approve only if you know and trust them.`;
  return <Notice tone="warning">{text}</Notice>;
}
