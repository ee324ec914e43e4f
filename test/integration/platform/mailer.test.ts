import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { defaultNotificationPacing } from '../../../packages/core/src/domain/notifications.ts';
import { createMailer, maxSendMs } from '../../../src/platform/mail/mailer.ts';
import { refused, refuseMail, startMailServer } from '../../support/servers/mail-server.ts';
import { findFreePort } from '../../support/free-port.ts';
import { stopAfterTest } from '../../support/use.ts';

const mail = { to: 'ada@mail.example', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>', id: 'ntf_1' };
const mailerOf = (url: string, silenceMs = 10_000) =>
  createMailer({ url, from: 'ams@sender.example', host: 'ams.example', silenceMs });

test('a message has a stable id, and says that it is automatic', async () => {
  const server = stopAfterTest(await startMailServer());
  expect(await mailerOf(server.url).send(mail)).toBeUndefined();
  const [received] = server.mails;
  expect(received?.messageId).toBe('<ntf_1@ams.example>');
  expect(received?.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
  expect(received?.sender).toBe('ams@sender.example');
});

test('line breaks in any field change neither headers nor recipients', async () => {
  const server = stopAfterTest(await startMailServer());
  const attack = '\r\nBcc: eve@evil.example\r\nX-Evil: 1\r\n\r\nbody';
  const hostile = {
    ...mail,
    subject: `Hi${attack}`,
    id: `ntf_2${attack}`,
    unsubscribe: `https://a.example/${attack}`,
  };
  await mailerOf(server.url).send(hostile);
  await mailerOf(server.url).send({ ...mail, to: `ada@mail.example${attack}` });
  await mailerOf(server.url).send({ ...mail, to: 'ada@mail.example, eve@evil.example' });
  expect(server.mails.flatMap(({ recipients }) => recipients)).not.toContain('eve@evil.example');
  const keys = server.mails.flatMap(({ headers }) => headers.map(({ key }) => key));
  expect(keys.filter((key) => key === 'bcc' || key === 'x-evil')).toEqual([]);
});

test('failures are described without the texts of the server', async () => {
  const server = stopAfterTest(await startMailServer());
  server.setHandler(refuseMail(552));
  expect(await mailerOf(server.url).send(mail)).toEqual({
    error: 'the mail server refused the message (552)',
    isFinal: false,
  });
  const onMailFrom = (_: unknown, __: unknown, answer: (error: Error) => void) => answer(refused(553));
  const strict = stopAfterTest(await startMailServer({ onMailFrom }));
  expect(await mailerOf(strict.url).send(mail)).toEqual({
    error: 'the mail server refused the sender (553)',
    isFinal: false,
  });
  const closed = `smtp://127.0.0.1:${await findFreePort()}`;
  const unreachable = { error: 'the mail server cannot be reached', isFinal: false };
  expect(await mailerOf(closed).send(mail)).toEqual(unreachable);
});

test('a server that says nothing ends the attempt; the longest attempt ends before the lease of the message', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const result = await mailerOf(`smtp://127.0.0.1:${port}`, 500).send(mail);
  expect(result).toEqual({ error: 'the mail server cannot be reached', isFinal: false });
  expect(maxSendMs).toBeLessThan(defaultNotificationPacing.leaseMs);
});
