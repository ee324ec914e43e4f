import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { notificationChannels } from '../../../../../packages/core/src/domain/notifications.ts';
import {
  hasBrowserNotifications,
  readNotificationSettings,
  removeChannel,
  renewPageLease,
  requireAddress,
  sendTestNotification,
  setBrowserNotifications,
  setNotificationAddress,
  setNotificationTiming,
  setNotificationWebhook,
} from '../../../../services/notifications/settings.ts';
import { readWaitingItems } from '../../../../services/notifications/waiting-items.ts';
import type { SystemWork } from '../../../../work/unit-of-work.ts';
import { successFlash } from '../../flash.ts';
import { type FormErrors, orShowFormAgain, redirectOrWarn } from '../../form-errors.ts';
import type { PageParts } from '../../parts.ts';
import { action, type Answer, type ConsoleRoute, page, type PersonVisit, publicPage } from '../../route.ts';
import { notificationSecretPage, notificationsPage } from './settings-page.tsx';

const path = '/console/notifications';

/** The notification settings of a person, and the stream of notifications of the browser. */
export function notificationRoutes(parts: PageParts): ConsoleRoute[] {
  const { limits } = parts;
  const { show, save, saved } = createForms(parts);
  return [
    page(path, (visit) => show(visit)),
    action(`${path}/timing`, (visit) =>
      saved(visit, 'Saved.', (work, { form, person }) =>
        setNotificationTiming(work, person.account_id, {
          timing: form.get('timing') ?? '',
          hour: Number(form.get('hour') || NaN),
          time_zone: (form.get('time_zone') ?? '').trim(),
        }),
      ),
    ),
    action(`${path}/browser`, (visit) =>
      saved(visit, 'Saved.', (work, { form, person }) =>
        setBrowserNotifications(work, person.account_id, form.get('browser') === 'on'),
      ),
    ),
    action(`${path}/email`, (visit) => {
      const { account_id } = visit.person;
      const email = (visit.form.get('email') ?? '').trim();
      return orShowFormAgain(
        async () => {
          if (!parts.settings.sends_mail) throw new DomainError('NOT_FOUND', 'This service sends no e-mail.');
          requireAddress(email);
          await limits.consume('notification_message', account_id);
          await limits.consume('notification_message', email.toLowerCase());
          await save(visit, (work) => setNotificationAddress(work, account_id, email));
          return { to: path, flash: successFlash('Open the link that we send to this address.') };
        },
        (formErrors) => show(visit, formErrors),
      );
    }),
    action(`${path}/webhook`, (visit) =>
      orShowFormAgain(
        async () => {
          const { account_id } = visit.person;
          const url = (visit.form.get('url') ?? '').trim();
          return notificationSecretPage(
            await save(visit, (work) => setNotificationWebhook(work, account_id, url)),
          );
        },
        (formErrors) => show(visit, formErrors),
      ),
    ),
    action(`${path}/off`, (visit) =>
      saved(visit, 'Turned off.', (work, { form, person }) =>
        removeChannel(work, person.account_id, requireChannel(form)),
      ),
    ),
    action(`${path}/test`, ({ form, person }) =>
      redirectOrWarn(path, async () => {
        const kind = requireChannel(form);
        await limits.consume('notification_message', person.account_id);
        const isOn = await parts.unitOfWork.writeAsSystem((work) =>
          sendTestNotification(work, person.account_id, kind),
        );
        if (!isOn) throw new DomainError('NOT_FOUND', 'This channel is off.');
        return 'A test message is sent within seconds. Reload the page to see the result.';
      }),
    ),
    streamRoute(parts),
  ];
}

function createForms({ unitOfWork, limits, settings }: PageParts) {
  async function show({ person }: PersonVisit, formErrors?: FormErrors): Promise<Answer> {
    const found = await unitOfWork.readAsSystem((all) => readNotificationSettings(all, person.account_id));
    return notificationsPage(found, { formErrors, sends_mail: settings.sends_mail });
  }

  async function save<T>({ person }: PersonVisit, change: (work: SystemWork) => Promise<T>): Promise<T> {
    await limits.consume('notification_settings', person.account_id);
    return unitOfWork.writeAsSystem(change, authorFromPerson(person));
  }

  /** Saves a form, and shows it again with errors that the person can correct. */
  function saved(
    visit: PersonVisit,
    text: string,
    change: (work: SystemWork, visit: PersonVisit) => Promise<void>,
  ): Promise<Answer> {
    return orShowFormAgain(
      async () => {
        await save(visit, (work) => change(work, visit));
        return { to: path, flash: successFlash(text) };
      },
      (formErrors) => show(visit, formErrors),
    );
  }
  return { show, save, saved };
}

/** @throws {DomainError} VALIDATION_ERROR */
function requireChannel(form: URLSearchParams) {
  const found = notificationChannels.find((kind) => kind === form.get('channel'));
  if (!found) throw new DomainError('VALIDATION_ERROR', 'channel: must be email or webhook');
  return found;
}

/** What waits, for the script. While a browser has the stream, messages to other channels wait. */
function streamRoute({ unitOfWork, live }: PageParts): ConsoleRoute {
  return publicPage('/console/live/notifications', ({ ctx, person }) => {
    const account_id = person?.account_id ?? '';
    live.serve(ctx, person, {
      lease: {
        renew: () => unitOfWork.writeAsSystem((work) => renewPageLease(work, account_id)),
      },
      render: async () => {
        const items = await unitOfWork.readAsSystem(async (all) => {
          if (!(await hasBrowserNotifications(all, account_id)))
            throw new DomainError('NOT_FOUND', 'Notifications of the browser are off.');
          return readWaitingItems(all, account_id);
        });
        return items.map(({ key, path: address, text }) => (
          <a href={address} data-key={key} key={key}>
            {text}
          </a>
        ));
      },
    });
    return 'handled';
  });
}
