import { defaults, openHost, type HostDocument } from './host-document.ts';

const claudeCode = ['http://localhost:54212/callback'];
const codex = ['http://127.0.0.1:40123/callback'];
const gemini = ['http://localhost:7777/oauth/callback'];

export const terminals: readonly HostDocument[] = [
  openHost('Claude Code', 'Claude Code (messages)', claudeCode, {
    variant: 'without resource',
    scope: `${defaults} offline_access`,
    resource: undefined,
  }),
  openHost('Claude Code', 'Claude Code (messages)', claudeCode, {
    variant: 'with resource, other port',
    metadata: { application_type: 'native' },
    redirect_uri: 'http://localhost:61002/callback',
    scope: `${defaults} offline_access`,
  }),
  openHost('Claude Code', 'Claude Code', ['http://localhost/callback', 'http://127.0.0.1/callback'], {
    variant: 'metadata document',
    document: 'https://claude.ai/oauth/claude-code-client-metadata',
    metadata: { client_uri: 'https://claude.ai' },
    redirect_uri: 'http://localhost:54212/callback',
    resource: undefined,
  }),
  openHost('Codex', 'Codex', codex, { variant: 'without resource', scope: defaults, resource: undefined }),
  openHost('Codex', 'Codex', codex, {
    variant: 'resource at the token endpoint only',
    scope: defaults,
    resource: ['token'],
  }),
  openHost('Gemini CLI', 'Gemini CLI MCP Client', gemini),
  openHost('Gemini CLI', 'Gemini CLI MCP Client', gemini, {
    variant: 'scope at each refresh',
    metadata: { scope: 'threads:read offline_access' },
    scope: 'threads:read offline_access',
    refresh_scope: 'threads:read offline_access',
  }),
  openHost('Copilot CLI', 'GitHub Copilot CLI', ['http://127.0.0.1:56679/'], {
    metadata: { application_type: 'native' },
  }),
  openHost('OpenCode', 'OpenCode', ['http://127.0.0.1:19876/mcp/oauth/callback'], {
    metadata: { client_uri: 'https://opencode.ai' },
  }),
  openHost('Goose', 'goose', ['http://localhost:45671/oauth_callback'], { resource: ['authorize', 'token'] }),
  openHost('letta-code', 'Letta Code', ['http://127.0.0.1:19877/callback'], { scope: 'openid' }),
  openHost('mcporter', 'mcporter', ['http://127.0.0.1:40992/callback'], {
    metadata: { scope: 'mcp:tools' },
    scope: 'mcp:tools',
  }),
  openHost('mcp-remote', 'MCP CLI Proxy', ['http://localhost:3334/oauth/callback'], {
    metadata: {
      client_uri: 'https://github.com/modelcontextprotocol/mcp-cli',
      software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d',
    },
    scope: 'openid email profile',
  }),
  openHost(
    'MCP Inspector',
    'MCP Inspector',
    ['http://localhost:6274/oauth/callback/debug', 'http://localhost:6274/oauth/callback'],
    {
      metadata: { client_uri: 'https://github.com/modelcontextprotocol/inspector', scope: '' },
      scope: '',
    },
  ),
];
