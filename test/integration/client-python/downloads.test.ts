import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { missingPythonReason, runPython } from '../../support/python.ts';
import { listen } from '../../support/servers/listen.ts';
import { testCertificate } from '../../support/servers/tls-certificate.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

describeUnless(missingPythonReason, 'downloads from Python', () => {
  test('trust the same certificates as calls, and use no proxy of the environment', async () => {
    const server = await listen(
      createSecureServer(testCertificate, ({ url, headers: { host, authorization = 'none' } }, response) => {
        if (url === '/file') response.end(authorization);
        else response.writeHead(302, { Location: `https://${host ?? ''}/file` }).end();
      }),
    );
    onTestFinished(server.close);
    const result = await runPython(
      `
import json, os, ssl
import agent_messaging as am

context = ssl.create_default_context(cadata=os.environ["CERTIFICATE"])
client = am.Client(os.environ["URL"], "token", ssl_context=context)
print(json.dumps(client.attachments.download("att_1").decode()))
`,
      {
        URL: `https://${server.host}`,
        CERTIFICATE: testCertificate.cert,
        https_proxy: 'http://127.0.0.1:9',
      },
    );
    expect(result).toBe('none');
  });

  test('of a file that was not scanned end with the error, after one request', async () => {
    let requests = 0;
    const body = { error: { code: 'ATTACHMENT_NOT_READY', message: 'This file could not be scanned.' } };
    const server = await listen(
      createServer((_, response) => {
        requests += 1;
        response.writeHead(409, { 'Retry-After': '3600' }).end(JSON.stringify(body));
      }),
    );
    onTestFinished(server.close);
    const result = await runPython(
      `
import json, os
import agent_messaging as am

try:
    am.Client(os.environ["URL"], "token").attachments.download("att_1", timeout=2)
except am.ConflictError as error:
    print(json.dumps([error.code, error.retry_after]))
`,
      { URL: server.url },
    );
    expect(result).toEqual(['ATTACHMENT_NOT_READY', 3_600]);
    expect(requests).toBe(1);
  });
});
