import type { AuthorizationRequest } from '../../../http/authorization-requests.ts';
import { hostOf, isScheme } from '../../hosts.ts';
import { Badge, Facts, Icon, Notice } from '../../components/content.tsx';
import { audienceNames } from './scopes.tsx';

const listFormat = new Intl.ListFormat('en');

type Client = AuthorizationRequest['client'];

/** The client. Its own claims are separate from the verified redirect address. */
export function ClientFacts({ client, audience }: Pick<AuthorizationRequest, 'client' | 'audience'>) {
  const { name, uri, kind, client_id } = client;
  const labels = {
    document: 'App at',
    registered: 'Claims to be',
    own: 'Page of this service',
    'command-line': 'Command line of this service',
  };
  const badges = { document: 'Address verified', own: 'Verified', 'command-line': 'Known app' };
  return (
    <div class="client">
      <div class="client-name">
        <span class="client-label">{labels[kind]}</span>
        <strong>
          <bdi>{kind === 'document' ? hostOf(client_id) : (name ?? 'an app without a name')}</bdi>
        </strong>
        {kind === 'registered' ? (
          <Badge tone="warning">Not verified</Badge>
        ) : (
          <Badge tone="good">{badges[kind]}</Badge>
        )}
      </div>
      <Facts
        facts={[
          ...(kind === 'document' && name !== null
            ? [['Name, not verified', <bdi key="name">{name}</bdi>] as const]
            : []),
          ['Redirects to', <Destination key="to" {...client} />],
          ...(uri !== null ? [['Website, not verified', <bdi key="uri">{hostOf(uri)}</bdi>] as const] : []),
          ['Connects through', audienceNames[audience]],
          ['Approval covers', listFormat.format([audienceNames.mcp, audienceNames.api, audienceNames.ws])],
        ]}
      />
    </div>
  );
}

function Destination({ kind, loopback, redirect_host }: Pick<Client, 'kind' | 'loopback' | 'redirect_host'>) {
  if (loopback && kind !== 'own') {
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
  const hasScheme = isScheme(redirect_host);
  return (
    <span class="destination">
      <Icon name={hasScheme ? 'computer' : 'globe'} />
      <span>
        {hasScheme && (
          <>
            <strong>An app on this device</strong>
            <br />
            with the address scheme{' '}
          </>
        )}
        <strong class={hasScheme ? 'code' : 'host'}>{redirect_host}</strong>
      </span>
    </span>
  );
}

/** A warning that depends on where the client redirects. */
export function ConsentWarning({
  kind,
  loopback,
  redirect_host,
  unknown_scheme,
}: Pick<Client, 'kind' | 'loopback' | 'redirect_host' | 'unknown_scheme'>) {
  if (unknown_scheme)
    return (
      <Notice tone="warning">
        The address scheme <span class="code">{redirect_host}</span> is unknown to this service. Any program
        on this device can use it. Approve only if you know that it belongs to the app that you have just
        started to connect.
      </Notice>
    );
  if (kind === 'own')
    return (
      <Notice tone="accent">Requests that you send on this page act as the agent until you sign out.</Notice>
    );
  const text =
    loopback || isScheme(redirect_host)
      ? 'Approve only if you have just started to connect a program on this device yourself.'
      : `The operator of ${redirect_host} will be able to do this at any time. Approve only if you know and trust them.`;
  return <Notice tone="warning">{text}</Notice>;
}
