import { defaults, openHost, type HostDocument } from './host-document.ts';

const cursor = 'cursor://anysphere.cursor-mcp/oauth/callback';
const cline = ['vscode://saoudrizwan.claude-dev/mcp-auth/callback/3f2a9c'];
const vsCode = [
  'https://insiders.vscode.dev/redirect',
  'https://vscode.dev/redirect',
  'http://localhost/',
  'http://127.0.0.1/',
  'http://localhost:33418/',
  'http://127.0.0.1:33418/',
];

export const editors: readonly HostDocument[] = [
  openHost('Cursor', 'Cursor', [cursor]),
  openHost(
    'Cursor',
    'Cursor',
    ['https://www.cursor.com/agents/mcp/oauth/callback', 'http://localhost:8787/callback', cursor],
    { variant: 'https and localhost' },
  ),
  ...[
    'http://127.0.0.1:33418/',
    'https://vscode.dev/redirect',
    'http://127.0.0.1:50111/',
    'http://localhost/',
  ].map((redirect_uri) =>
    openHost('VS Code', 'Visual Studio Code', vsCode, {
      variant: `answer to ${redirect_uri}`,
      metadata: {
        client_uri: 'https://code.visualstudio.com',
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        application_type: 'native',
      },
      redirect_uri,
      scope: defaults,
    }),
  ),
  openHost('VS Code', 'Visual Studio Code', ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'], {
    variant: 'metadata document',
    document: 'https://vscode.dev/oauth/client-metadata.json',
    metadata: { client_uri: 'https://vscode.dev/product' },
    scope: defaults,
  }),
  openHost('Cline', 'Cline', cline, {
    metadata: { client_uri: 'https://cline.bot', software_id: 'cline' },
  }),
  openHost('Cline', 'Cline', cline, {
    variant: '3.57, scope openid',
    metadata: { scope: 'openid' },
    scope: 'openid',
  }),
  openHost('Roo Code', 'Roo Code', ['http://localhost:3118/callback']),
  openHost('Windsurf', 'Windsurf', ['http://127.0.0.1:43117/callback']),
  openHost('Windsurf', 'Windsurf', ['windsurf://codeium.windsurf/mcp-auth/callback'], {
    variant: 'app scheme',
  }),
  openHost('Zed', 'Zed', ['http://127.0.0.1:49201/callback']),
  openHost('Warp', 'Warp', ['warp://mcp/oauth2callback']),
  openHost('Raycast', 'Raycast', [
    'raycast://oauth?package_name=mcp',
    'https://raycast.com/redirect?packageName=mcp',
    'com.raycast:/oauth?package_name=mcp',
  ]),
];
