import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { type Consent, consentPage } from '../../../../src/transports/console/pages/auth/consent-page.tsx';
import { LayoutContextProvider } from '../../../../src/transports/console/components/layout-context.ts';

type Client = Consent['request']['client'];

const client: Client = {
  client_id: 'https://apps.example/quill.json',
  name: 'The bank',
  uri: null,
  redirect_host: 'quill.example',
  kind: 'document',
  loopback: false,
  unknown_scheme: false,
};

const agent: Consent['agents'][number] = {
  id: 'agt_1',
  owner_id: 'acc_1',
  canonical_handle: 'ada.writer',
  display_name: 'Writer',
  scope: 'personal',
  visibility: 'private',
  paused: false,
  is_online: false,
  owner_name: 'ada',
  member_name: null,
  member_has_left: false,
  acts_as: true,
};

function shown(over: Partial<Client>): { html: string } {
  const person = { account_id: 'acc_1', username: 'ada', time_zone: null, session_id: 's' };
  const page = consentPage({
    request: {
      uid: 'u',
      client: { ...client, ...over },
      scopes: ['threads:read'],
      audience: 'mcp',
      resource: 'http://localhost:3000/mcp',
    },
    person,
    agents: [agent],
    total: 1,
    search: '',
    approvedAgentIds: new Set(),
  });
  const none = { src: '', integrity: '' };
  const assets = {
    styles: '',
    mark: '',
    markWithNews: '',
    script: none,
    watchScript: none,
    copyScript: none,
    passwordScript: none,
    serve: () => false,
  };
  const frame = {
    person,
    path: '/',
    timeZone: undefined,
    flash: undefined,
    assets,
    keptForm: undefined,
    isCompact: false,
    hasLetterKeys: true,
    openApprovals: 0,
    notifies: false,
    method: 'GET',
    csrf: () => 'c',
  };
  const html = renderToString(h(LayoutContextProvider, { value: frame }, page.body));
  return { html };
}

test('a client with a metadata document is identified by the host of the document, not by its name', () => {
  const { html } = shown({});
  expect(html).toMatch(/App at<\/span><strong><bdi>apps\.example<\/bdi>/);
  expect(html).toContain('Address verified');
  expect(html).toMatch(/Name, not verified<\/dt><dd><bdi>The bank<\/bdi>/);
  expect(html).toContain('<strong class="host">quill.example</strong>');
});

test('a client that registered itself is shown as unverified', () => {
  const { html } = shown({ client_id: 'x', kind: 'registered' });
  expect(html).toMatch(/Claims to be<\/span><strong><bdi>The bank<\/bdi>/);
  expect(html).toContain('Not verified');
  expect(html).not.toContain('Address verified');
});

test('a client without a name is shown as an app without a name', () => {
  expect(shown({ kind: 'registered', name: null }).html).toContain('an app without a name');
});

test('an app on the device is identified by the address that it opens', () => {
  const { html } = shown({ kind: 'registered', redirect_host: 'cursor:' });
  expect(html).toMatch(/An app on this device.*cursor:/);
  expect(html).toContain('just started to connect a program on this device yourself');
});

test('a scheme that the service does not know is shown, and the warning says what approving it means', () => {
  const { html } = shown({ kind: 'registered', redirect_host: 'quill:', unknown_scheme: true });
  expect(html).toMatch(/The address scheme <span class="code">quill:<\/span> is unknown/);
});
