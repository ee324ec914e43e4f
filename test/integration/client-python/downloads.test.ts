import { createServer } from 'node:https';
import { expect, test } from 'vitest';
import { missingPythonReason, runPython } from '../../support/python.ts';
import { listen } from '../../support/servers/listen.ts';
import { testCertificate } from '../../support/servers/tls-certificate.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

describeUnless(missingPythonReason, 'downloads from Python', () => {
  test('trust the same certificates as calls, and use no proxy of the environment', async () => {
    const server = await listen(
      createServer(testCertificate, ({ url, headers: { host, authorization = 'none' } }, response) => {
        if (url === '/file') response.end(authorization);
        else response.writeHead(302, { Location: `https://${host ?? ''}/file` }).end();
      }),
    );
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
    ).finally(() => server.close());
    expect(result).toBe('none');
  });
});
