import { code, codeWithoutSecret, everywhere, type HostDocument } from './host-document.ts';

export const hosted: readonly HostDocument[] = [
  {
    host: 'Claude.ai',
    variant: 'without resource',
    metadata: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      ...codeWithoutSecret,
    },
  },
  {
    host: 'Claude.ai',
    variant: 'scope claudeai, with a secret',
    metadata: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
      ...code,
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'claudeai',
    },
    scope: 'claudeai',
    authentication: 'client_secret_post',
    resource: everywhere,
  },
  {
    host: 'ChatGPT',
    metadata: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'ChatGPT',
    variant: 'own callback, with a secret',
    metadata: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector/oauth/p9XkT2vQ'],
      ...code,
      token_endpoint_auth_method: 'client_secret_post',
    },
    authentication: 'client_secret_post',
    resource: everywhere,
  },
  {
    host: 'Le Chat',
    metadata: {
      client_name: 'Mistral AI',
      redirect_uris: ['https://callback.mistral.ai/v1/integrations_auth/oauth2_callback'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Copilot Studio',
    metadata: {
      client_name: 'Microsoft Copilot Studio',
      redirect_uris: ['https://global.consent.azure-apim.net/redirect/cr1a2-5fmessages-5f0b1c2d3e'],
      ...code,
      token_endpoint_auth_method: 'client_secret_post',
    },
    authentication: 'client_secret_post',
  },
  {
    host: 'Bot Framework',
    metadata: {
      client_name: 'Azure Bot Service',
      redirect_uris: ['https://token.botframework.com/.auth/web/redirect'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
    authentication: 'client_secret_basic',
  },
];

export const selfHosted: readonly HostDocument[] = [
  {
    host: 'LibreChat',
    metadata: {
      client_name: 'LibreChat MCP Client',
      redirect_uris: ['http://localhost:3080/api/mcp/messages/oauth/callback'],
      ...code,
      token_endpoint_auth_method: 'client_secret_basic',
    },
    authentication: 'client_secret_basic',
    resource: everywhere,
  },
  {
    host: 'LibreChat',
    variant: 'https',
    metadata: {
      client_name: 'LibreChat MCP Client',
      redirect_uris: ['https://chat.acme.example/api/mcp/messages/oauth/callback'],
      ...code,
      token_endpoint_auth_method: 'client_secret_post',
    },
    authentication: 'client_secret_post',
    resource: everywhere,
  },
  {
    host: 'n8n',
    metadata: {
      client_name: 'n8n',
      client_uri: 'https://n8n.io/',
      redirect_uris: ['http://localhost:5678/rest/oauth2-credential/callback'],
      ...code,
      token_endpoint_auth_method: 'client_secret_basic',
    },
    authentication: 'client_secret_basic',
  },
  {
    host: 'n8n',
    variant: 'https, as a public client with an empty secret',
    metadata: {
      client_name: 'n8n',
      redirect_uris: ['https://n8n.acme.example/rest/oauth2-credential/callback'],
      ...codeWithoutSecret,
    },
    authentication: 'empty_basic',
  },
  {
    host: 'Open WebUI',
    metadata: {
      client_name: 'Open WebUI',
      redirect_uris: ['https://ai.acme.example/oauth/clients/mcp:messages/callback'],
      ...code,
      token_endpoint_auth_method: 'client_secret_post',
      client_uri: null,
      contacts: null,
      scope: null,
    },
    authentication: 'client_secret_post',
    resource: everywhere,
  },
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
