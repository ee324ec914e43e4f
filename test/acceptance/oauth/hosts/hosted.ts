import { codeWithoutSecret, everywhere, openHost, type HostDocument } from './host-document.ts';

const post = { token_endpoint_auth_method: 'client_secret_post' };
const withPost = { metadata: post, authentication: 'client_secret_post' } as const;
const basic = { token_endpoint_auth_method: 'client_secret_basic' };

export const hosted: readonly HostDocument[] = [
  openHost('Claude.ai', 'Claude', ['https://claude.ai/api/mcp/auth_callback'], {
    variant: 'without resource',
    resource: undefined,
  }),
  openHost(
    'Claude.ai',
    'Claude',
    ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
    {
      variant: 'scope claudeai, with a secret',
      ...withPost,
      metadata: { ...post, scope: 'claudeai' },
      scope: 'claudeai',
    },
  ),
  openHost('ChatGPT', 'ChatGPT', ['https://chatgpt.com/connector_platform_oauth_redirect']),
  openHost('ChatGPT', 'ChatGPT', ['https://chatgpt.com/connector/oauth/p9XkT2vQ'], {
    variant: 'own callback, with a secret',
    ...withPost,
  }),
  openHost('Le Chat', 'Mistral AI', ['https://callback.mistral.ai/v1/integrations_auth/oauth2_callback']),
  openHost(
    'Copilot Studio',
    'Microsoft Copilot Studio',
    ['https://global.consent.azure-apim.net/redirect/cr1a2-5fmessages-5f0b1c2d3e'],
    { ...withPost, resource: undefined },
  ),
  {
    host: 'Bot Framework',
    metadata: {
      client_name: 'Azure Bot Service',
      redirect_uris: ['https://token.botframework.com/.auth/web/redirect'],
      ...basic,
    },
    authentication: 'client_secret_basic',
  },
];

export const selfHosted: readonly HostDocument[] = [
  openHost('LibreChat', 'LibreChat MCP Client', ['http://localhost:3080/api/mcp/messages/oauth/callback'], {
    metadata: basic,
    authentication: 'client_secret_basic',
  }),
  openHost(
    'LibreChat',
    'LibreChat MCP Client',
    ['https://chat.acme.example/api/mcp/messages/oauth/callback'],
    { variant: 'https', ...withPost },
  ),
  openHost('n8n', 'n8n', ['http://localhost:5678/rest/oauth2-credential/callback'], {
    metadata: { client_uri: 'https://n8n.io/', ...basic },
    authentication: 'client_secret_basic',
    resource: undefined,
  }),
  openHost('n8n', 'n8n', ['https://n8n.acme.example/rest/oauth2-credential/callback'], {
    variant: 'https, as a public client with an empty secret',
    authentication: 'empty_basic',
    resource: undefined,
  }),
  openHost('Open WebUI', 'Open WebUI', ['https://ai.acme.example/oauth/clients/mcp:messages/callback'], {
    ...withPost,
    metadata: { ...post, client_uri: null, contacts: null, scope: null },
  }),
];

/** Properties of clients that no host above has. */
export const others: readonly HostDocument[] = [
  {
    host: 'other clients',
    variant: 'only redirect addresses, with IPv6 and another port',
    metadata: { redirect_uris: ['http://[::1]:4000/callback'] },
    redirect_uri: 'http://[::1]:4999/callback',
  },
  {
    host: 'other clients',
    variant: 'a scheme with a dot and without an authority',
    metadata: { redirect_uris: ['com.example.app:/oauth'], ...codeWithoutSecret },
    resource: ['authorize'],
  },
  {
    host: 'other clients',
    variant: 'a scheme that the service does not know',
    metadata: { redirect_uris: ['quill:/oauth'], ...codeWithoutSecret },
    resource: everywhere,
  },
  {
    host: 'other clients',
    variant: 'keys, and no refresh grant',
    metadata: {
      redirect_uris: ['https://app.example/callback'],
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'private_key_jwt',
    },
    resource: everywhere,
  },
];
