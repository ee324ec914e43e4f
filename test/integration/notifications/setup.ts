import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  defaultNotificationPacing,
  type NotificationPacing,
} from '../../../packages/core/src/domain/notifications.ts';
import { openApproval } from '../../../src/services/approvals/approvals.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import type { FormInput, PageResponse } from '../../clients/form-browser.ts';
import { type MailServer, startMailServer } from '../../support/servers/mail-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type Backend, type ServiceOptions, startService, type TestService } from '../../support/service.ts';
import { type SignedInPerson, signInPerson } from '../console/signed-in-person.ts';

/** The usual timing, within seconds. */
const fastPacing: NotificationPacing = {
  ...defaultNotificationPacing,
  gatherMs: 500,
  recheckMs: 3_000,
  scheduleMs: [0, 200, 400],
};

/** Waits until the value is as expected, also on a busy machine. */
export const waitUntil = <T>(read: () => T) => expect.poll(read);

interface Options {
  backend?: Backend;
  pacing?: Partial<NotificationPacing>;
  /** The clock of the worker is ahead by this many milliseconds. */
  ahead?(): number;
  env?: Record<string, string>;
  overrides?: ServiceOptions['overrides'];
}

export const page = '/console/notifications';

/** A service that sends e-mail and webhooks, for the tests of one file. */
export function useNotifications(options: Options = {}) {
  const { backend = 'postgres', pacing, ahead = () => 0, env, overrides = {} } = options;
  let service: TestService;
  let mailServer: MailServer;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    mailServer = await startMailServer();
    receiver = await startWebhookReceiver({ isDescribed: false });
    const mail = { SMTP_URL: mailServer.url, SMTP_FROM: 'Agent Messaging <ams@sender.example>' };
    service = await startService({
      backend,
      env: { ...mail, WEBHOOK_NETWORKS: '127.0.0.0/8', ...env },
      notifications: {
        pacing: { ...fastPacing, ...pacing },
        sweepMs: 500,
        now: () => Date.now() + ahead(),
      },
      overrides,
    });
  });
  afterAll(async () => {
    await service.stop();
    await receiver.close();
    await mailServer.close();
  });

  /** A person with an agent. */
  async function person(): Promise<Person> {
    const signedIn = await signInPerson(service);
    return { ...signedIn, own: await signedIn.agent() };
  }

  /** Turns e-mail on, by the link that arrives. Returns the address. */
  async function turnMailOn(ada: SignedInPerson, address = `${ada.username}@mail.example`): Promise<string> {
    await submit(ada, 'email', { fields: { email: address } });
    await waitUntil(() => mailServer.mailsTo(address).length).toBe(1);
    const path = findLink(mailServer.mailsTo(address)[0]?.text ?? '', 'confirm');
    const confirmed = await ada.fill(path);
    expect(confirmed.title).toContain('Address confirmed');
    return address;
  }

  return {
    get service() {
      return service;
    },
    get mailServer() {
      return mailServer;
    },
    get receiver() {
      return receiver;
    },
    person,
    turnMailOn,
    /** Turns the webhook on, at an unused path of the receiver. */
    async turnWebhookOn(ada: SignedInPerson) {
      const path = `/${randomUUID()}`;
      const shown = await submit(ada, 'webhook', { fields: { url: `${receiver.url}${path}` } });
      const [secret = ''] = /whsec_[\w+/]+=*/.exec(shown.text) ?? [];
      return { path, secret };
    },
    /** An approval that the agent of a person asks for. Returns its id. */
    async ask({ own }: Person): Promise<string> {
      const target = `target-${randomUUID().slice(0, 13)}.agent`;
      const approval = await service.write(async (work) => {
        await registerAgentAsOperator(work, { handle: target, create_owner: true });
        return openApproval(work, {
          agent_id: own.id,
          action: 'request_contact',
          target,
          detail: { message: 'A text that stays on the page.' },
        });
      });
      return approval?.id ?? '';
    },
    /** The messages about items to an address: all but the one that confirms it. */
    itemMails: (address: string) =>
      mailServer.mailsTo(address).filter(({ subject }) => subject !== 'Confirm your e-mail address'),
    count: async (table: string, { person: { account_id } }: SignedInPerson): Promise<number> => {
      const text = `select count(*)::int as count from ${table} where account_id = $1`;
      const [row] = await service.sql<{ count: number }>(text, [account_id]);
      return row?.count ?? 0;
    },
  };
}

/** A person with an agent. */
export type Person = SignedInPerson & { own: { id: string; handle: string; token: string } };

/** Sends a form of the settings page. */
export function submit(ada: SignedInPerson, form: string, input: FormInput): Promise<PageResponse> {
  return ada.fill(page, input, `${page}/${form}`);
}

/** The path of a link in a message. */
export function findLink(text: string, kind: 'confirm' | 'unsubscribe'): string {
  const [path = ''] = new RegExp(`/notifications/${kind}/[\\w-]+`).exec(text) ?? [];
  return path;
}
