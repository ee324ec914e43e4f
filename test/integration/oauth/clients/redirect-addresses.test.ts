import { describe, expect, test } from 'vitest';
import { register } from '../../../clients/oauth/app.ts';
import { useAuthorizationServer } from '../authorization-server.ts';

const authority = useAuthorizationServer();

const redirect_uris = ['http://127.0.0.1/callback'];
const ask = (metadata: unknown) => register(authority.url, metadata);

describe('redirect addresses', () => {
  test.each([
    ['https://app.example/callback'],
    ['https://app.example:8443/callback?x=1'],
    ['http://127.0.0.1/'],
    ['http://127.0.0.1:33418/callback'],
    ['http://[::1]:5000/callback'],
    ['http://localhost:6274/oauth/callback'],
    ['com.example.app:/callback'],
    ['org.example.app.desktop://callback'],
    ['cursor://anysphere.cursor-mcp/oauth/callback'],
    ['vscode://vendor.extension/callback'],
    // Other schemes: the person allows them on the consent page.
    ['quill:/callback'],
    ['obsidian://mcp/callback'],
  ])('%s is accepted', async (address) => {
    const { status, json } = await ask({ redirect_uris: [address] });
    expect([status, json['redirect_uris']]).toEqual([201, [address]]);
  });

  test.each([
    ['http://app.example/callback'],
    ['http://127.0.0.1.evil.example/callback'],
    ['http://localhost.evil.example/'],
    ['http://10.0.0.1/callback'],
    ['http://0.0.0.0/callback'],
    ['http://192.168.1.2/callback'],
    ['javascript:alert(1)'],
    ['JavaScript:alert(1)'],
    ['data:text/html,x'],
    ['file:///etc/passwd'],
    ['blob:https://app.example/x'],
    ['about:blank'],
    ['vbscript:x'],
    ['ftp://app.example/'],
    ['ws://app.example/'],
    ['ms-settings:network'],
    ['intent://x#Intent;end'],
    ['mailto:somebody@app.example'],
    ['anything:callback'],
    ['ms-appx-web:/callback'],
    ['mailto:/somebody'],
    ['view-source:/x'],
    ['https:foo'],
    ['https:/foo'],
    ['https:///foo/cb'],
    ['http:localhost/cb'],
    ['http:127.0.0.1'],
    ['https://app.example:0/'],
    ['http://127.0.0.1:0/'],
    ['https://@evil.example/'],
    ['https:\\\\app.example/'],
    ['https://app.example/ x'],
    ['https://user:password@app.example/'],
    ['https://app.example/#fragment'],
    ['https://app.example/call back'],
    ['https://app.example\\@evil.example/'],
    ['https://app.example/\u0000'],
    ['https://app.example/\ud800'],
    ['https://app;sandbox/callback'],
    ['https://app,other/callback'],
    ['https://*.example/callback'],
    ["https://'self'/callback"],
    [' https://app.example/'],
    ['//app.example/callback'],
    ['/callback'],
    ['callback'],
    [''],
    [`https://app.example/${'x'.repeat(3_000)}`],
  ])('%s is refused', async (address) => {
    for (const addresses of [[address], [...redirect_uris, address]]) {
      const { status, json } = await ask({ redirect_uris: addresses });
      expect([status, json['error']]).toEqual([400, 'invalid_redirect_uri']);
      expect(json['error_description']).toEqual(expect.any(String));
    }
  });

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://app.example/x',
    'vbscript:x',
    'ms-settings:network',
    'mailto:a@app.example',
  ])('the refusal of %s says what to use', async (address) => {
    const { json } = await ask({ redirect_uris: [address] });
    expect(json['error_description']).toMatch(
      /^redirect_uris cannot use the scheme [\w-]+: use https or the scheme of an app$/,
    );
  });

  test('on a local network without TLS are refused with the reason and what to do', async () => {
    for (const host of ['192.168.1.20:5678', 'n8n.lan', '10.0.0.4']) {
      const { status, json } = await ask({
        redirect_uris: [`http://${host}/rest/oauth2-credential/callback`],
      });
      expect([status, json['error']]).toEqual([400, 'invalid_redirect_uri']);
      expect(json['error_description']).toBe(
        `redirect_uris can use http only for 127.0.0.1, [::1] and localhost, because others could read the code on its way to another host; use https://${host}`,
      );
    }
  });

  test('a client has at least one, and not too many', async () => {
    const many = Array.from({ length: 21 }, (_, n) => `https://app.example/${n}`);
    for (const addresses of [undefined, null, [], 'https://app.example/', [1], {}, many]) {
      const { status, json } = await ask({ redirect_uris: addresses });
      expect([status, json['error']]).toEqual([400, 'invalid_redirect_uri']);
    }
  });
});
