import { expect, test } from 'vitest';
import { runCli } from '../../clients/cli.ts';
import { refused, startMailServer } from '../../support/servers/mail-server.ts';
import { issuerClient, startIssuer } from '../../support/servers/openid-issuer.ts';
import { stopAfterTest, use } from '../../support/use.ts';
import { useAuthorizationServer } from '../oauth/authorization-server.ts';

const authority = useAuthorizationServer();
const mailServer = use(startMailServer);
const issuer = use(() => startIssuer('http://ams.localhost/sign-in/external/callback'));

/** What `ams doctor` finds about one part. */
async function check(part: string, env: Record<string, string>) {
  const { out } = await runCli({ ...authority.env, ...env }, ['doctor', '--json']);
  const { checks } = JSON.parse(out) as { checks: { part: string }[] };
  return checks.find((each) => each.part === part);
}

const mail = (SMTP_URL: string) => check('mail', { SMTP_URL, SMTP_FROM: 'ams@sender.example' });
const signIn = (OIDC_ISSUER: string) =>
  check('issuer', { OIDC_ISSUER, OIDC_CLIENT_ID: issuerClient.client_id });

test('doctor connects to the mail server and signs in', async () => {
  const { url } = mailServer;
  expect(await mail(url)).toMatchObject({ status: 'ok', detail: 'the mail server accepts connections' });
  expect(await mail('smtp://127.0.0.1:9')).toMatchObject({
    status: 'failed',
    detail: 'the mail server cannot be reached',
    advice: expect.stringContaining('SMTP_URL'),
  });
  const strict = await startMailServer({
    disabledCommands: ['STARTTLS'],
    onAuth: (_auth, _session, answer) => answer(refused(535)),
  });
  stopAfterTest(strict);
  expect(await mail(strict.url.replace('//', '//ams:wrong@'))).toMatchObject({
    status: 'failed',
    detail: 'the mail server refused the sign-in (535)',
  });
});

test('doctor loads the metadata of the issuer', async () => {
  const { url } = issuer;
  expect(await signIn(url)).toMatchObject({ status: 'ok', detail: `${new URL(url).host} responds` });
  expect(await signIn('http://127.0.0.1:9')).toMatchObject({
    status: 'failed',
    detail: expect.not.stringMatching(/^\s*$/),
    advice: expect.stringContaining('OIDC_ISSUER'),
  });
  expect(await signIn(`${url}/absent`)).toMatchObject({ status: 'failed' });
});
