import { codeWithoutSecret, defaults, everywhere, type HostDocument } from './host-document.ts';

export const terminals: readonly HostDocument[] = [
  {
    host: 'Claude Code',
    variant: 'without resource',
    metadata: {
      client_name: 'Claude Code (messages)',
      redirect_uris: ['http://localhost:54212/callback'],
      ...codeWithoutSecret,
    },
    scope: `${defaults} offline_access`,
  },
  {
    host: 'Claude Code',
    variant: 'with resource, other port',
    metadata: {
      client_name: 'Claude Code (messages)',
      redirect_uris: ['http://localhost:54212/callback'],
      ...codeWithoutSecret,
      application_type: 'native',
    },
    redirect_uri: 'http://localhost:61002/callback',
    scope: `${defaults} offline_access`,
    resource: everywhere,
  },
  {
    host: 'Claude Code',
    variant: 'metadata document',
    document: 'https://claude.ai/oauth/claude-code-client-metadata',
    metadata: {
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      ...codeWithoutSecret,
    },
    redirect_uri: 'http://localhost:54212/callback',
  },
  {
    host: 'Codex',
    variant: 'without resource',
    metadata: {
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:40123/callback'],
      ...codeWithoutSecret,
    },
    scope: defaults,
  },
  {
    host: 'Codex',
    variant: 'resource at the token endpoint only',
    metadata: {
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:40123/callback'],
      ...codeWithoutSecret,
    },
    scope: defaults,
    resource: ['token'],
  },
  {
    host: 'Gemini CLI',
    metadata: {
      client_name: 'Gemini CLI MCP Client',
      redirect_uris: ['http://localhost:7777/oauth/callback'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Gemini CLI',
    variant: 'scope at each refresh',
    metadata: {
      client_name: 'Gemini CLI MCP Client',
      redirect_uris: ['http://localhost:7777/oauth/callback'],
      ...codeWithoutSecret,
      scope: 'threads:read offline_access',
    },
    scope: 'threads:read offline_access',
    refresh_scope: 'threads:read offline_access',
    resource: everywhere,
  },
  {
    host: 'Copilot CLI',
    metadata: {
      client_name: 'GitHub Copilot CLI',
      redirect_uris: ['http://127.0.0.1:56679/'],
      ...codeWithoutSecret,
      application_type: 'native',
    },
    resource: everywhere,
  },
  {
    host: 'OpenCode',
    metadata: {
      client_name: 'OpenCode',
      client_uri: 'https://opencode.ai',
      redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Goose',
    metadata: {
      client_name: 'goose',
      redirect_uris: ['http://localhost:45671/oauth_callback'],
      ...codeWithoutSecret,
    },
    resource: ['authorize', 'token'],
  },
  {
    host: 'letta-code',
    metadata: {
      client_name: 'Letta Code',
      redirect_uris: ['http://127.0.0.1:19877/callback'],
      ...codeWithoutSecret,
    },
    scope: 'openid',
    resource: everywhere,
  },
  {
    host: 'mcporter',
    metadata: {
      client_name: 'mcporter',
      redirect_uris: ['http://127.0.0.1:40992/callback'],
      ...codeWithoutSecret,
      scope: 'mcp:tools',
    },
    scope: 'mcp:tools',
    resource: everywhere,
  },
  {
    host: 'mcp-remote',
    metadata: {
      client_name: 'MCP CLI Proxy',
      client_uri: 'https://github.com/modelcontextprotocol/mcp-cli',
      software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d',
      redirect_uris: ['http://localhost:3334/oauth/callback'],
      ...codeWithoutSecret,
    },
    scope: 'openid email profile',
    resource: everywhere,
  },
  {
    host: 'MCP Inspector',
    metadata: {
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      redirect_uris: ['http://localhost:6274/oauth/callback/debug', 'http://localhost:6274/oauth/callback'],
      ...codeWithoutSecret,
      scope: '',
    },
    scope: '',
    resource: everywhere,
  },
];
