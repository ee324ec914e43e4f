import { codeWithoutSecret, defaults, everywhere, type HostDocument } from './host-document.ts';

export const editors: readonly HostDocument[] = [
  {
    host: 'Cursor',
    metadata: {
      client_name: 'Cursor',
      redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Cursor',
    variant: 'https and localhost',
    metadata: {
      client_name: 'Cursor',
      redirect_uris: [
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
        'cursor://anysphere.cursor-mcp/oauth/callback',
      ],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  ...[
    'http://127.0.0.1:33418/',
    'https://vscode.dev/redirect',
    'http://127.0.0.1:50111/',
    'http://localhost/',
  ].map((redirect_uri) => ({
    host: 'VS Code',
    variant: `answer to ${redirect_uri}`,
    metadata: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://localhost/',
        'http://127.0.0.1/',
        'http://localhost:33418/',
        'http://127.0.0.1:33418/',
      ],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirect_uri,
    scope: defaults,
    resource: everywhere,
  })),
  {
    host: 'VS Code',
    variant: 'metadata document',
    document: 'https://vscode.dev/oauth/client-metadata.json',
    metadata: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://vscode.dev/product',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      ...codeWithoutSecret,
    },
    scope: defaults,
    resource: everywhere,
  },
  {
    host: 'Cline',
    metadata: {
      client_name: 'Cline',
      client_uri: 'https://cline.bot',
      software_id: 'cline',
      redirect_uris: ['vscode://saoudrizwan.claude-dev/mcp-auth/callback/3f2a9c'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Cline',
    variant: '3.57, scope openid',
    metadata: {
      client_name: 'Cline',
      redirect_uris: ['vscode://saoudrizwan.claude-dev/mcp-auth/callback/3f2a9c'],
      ...codeWithoutSecret,
      scope: 'openid',
    },
    scope: 'openid',
    resource: everywhere,
  },
  {
    host: 'Roo Code',
    metadata: {
      client_name: 'Roo Code',
      redirect_uris: ['http://localhost:3118/callback'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Windsurf',
    metadata: {
      client_name: 'Windsurf',
      redirect_uris: ['http://127.0.0.1:43117/callback'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Windsurf',
    variant: 'app scheme',
    metadata: {
      client_name: 'Windsurf',
      redirect_uris: ['windsurf://codeium.windsurf/mcp-auth/callback'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Zed',
    metadata: {
      client_name: 'Zed',
      redirect_uris: ['http://127.0.0.1:49201/callback'],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
  {
    host: 'Warp',
    metadata: { client_name: 'Warp', redirect_uris: ['warp://mcp/oauth2callback'], ...codeWithoutSecret },
    resource: everywhere,
  },
  {
    host: 'Raycast',
    metadata: {
      client_name: 'Raycast',
      redirect_uris: [
        'raycast://oauth?package_name=mcp',
        'https://raycast.com/redirect?packageName=mcp',
        'com.raycast:/oauth?package_name=mcp',
      ],
      ...codeWithoutSecret,
    },
    resource: everywhere,
  },
];
