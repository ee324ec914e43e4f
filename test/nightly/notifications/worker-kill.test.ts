import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { startServiceCluster } from '../../support/cluster/cluster.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { startWebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import {
  setNotificationAddress,
  setNotificationWebhook,
  sendTestNotification,
} from '../../../src/services/notifications/settings.ts';
import { createAccount } from '../../../src/services/people/accounts.ts';
import type { Backend } from '../../support/service.ts';
import { waitUntil } from '../../integration/notifications/setup.ts';

function killedWorker(backend: Backend): void {
  test('after sending and before recording it: sent once more, with the same id', async () => {
    const mailServer = await startMailServer();
    const receiver = await startWebhookReceiver({ isDescribed: false });
    const cluster = await startServiceCluster(backend, {
      SMTP_URL: mailServer.url,
      SMTP_FROM: 'ams@sender.example',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
    });
    onTestFinished(async () => {
      await cluster.stop();
      await receiver.close();
      await mailServer.close();
    });
    // Both receivers have the whole message, and do not answer until the worker is dead.
    const answers: (() => void)[] = [];
    const held = new Promise<undefined>((resolve) => answers.push(() => resolve(undefined)));
    mailServer.setHandler(() => held);
    receiver.setHandler(() => undefined);
    const { unitOfWork, database } = cluster.core;
    const account_id = await unitOfWork.write(system, async (work) => {
      const { id } = await createAccount(work, { username: `ada-${backend}`, password_hash: null });
      await setNotificationWebhook(work, id, `${receiver.url}/hook`);
      await sendTestNotification(work, id, 'webhook');
      await setNotificationAddress(work, id, 'ada@mail.example');
      return id;
    });
    const doomed = await cluster.startWorker();
    await waitUntil(() => [mailServer.mails.length, receiver.posts.length]).toEqual([1, 1]);
    await doomed.kill9();
    answers.forEach((answer) => answer());
    mailServer.setHandler(() => undefined);
    receiver.setHandler((response) => void response.writeHead(204).end());
    // The lease of the dead worker ends in a minute; here it ends now.
    const text = 'update notification_messages set next_at = 1 where account_id = $1 returning id';
    expect(await database.query({ text }, [account_id])).toHaveLength(2);
    await cluster.startWorker();
    const count = async () =>
      (
        await database.query({ text: 'select id from notification_messages where account_id = $1' }, [
          account_id,
        ])
      ).length;
    await waitUntil(count).toBe(0);
    expect([mailServer.mails.length, receiver.posts.length]).toEqual([2, 2]);
    expect(new Set(mailServer.mails.map(({ messageId }) => messageId)).size).toBe(1);
    expect(new Set(mailServer.mails.map((mail) => mail.text)).size).toBe(1);
    expect(new Set(receiver.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });
}

describe('a worker killed, with queues in PostgreSQL', () => killedWorker('postgres'));
await describeWithRedis('a worker killed, with queues in Redis', () => killedWorker('redis'));
