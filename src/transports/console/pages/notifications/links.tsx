import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import {
  confirmAddress,
  findConfirmation,
  hasBrowserNotifications,
  readUnsubscribeKey,
  renewPageLease,
  unsubscribe,
} from '../../../../services/notifications/settings.ts';
import { readWaitingItems } from '../../../../services/notifications/waiting-items.ts';
import { addressKey } from '../../../http/address-key.ts';
import { PostButton } from '../../components/form.tsx';
import { focusPage } from '../../define/focus-page.tsx';
import { publicAction, publicPage, type ShownPage, type Visit } from '../../route.ts';

const confirmPath = '/notifications/confirm/:token';
export const unsubscribePath = '/notifications/unsubscribe/:key';

type LinkVisit = Pick<Visit, 'ctx' | 'params' | 'parts' | 'read' | 'write'>;

const countRequest = ({ ctx, parts }: LinkVisit) => parts.limits.consume('public', addressKey(ctx));

/**
 * The pages of the links in e-mails. They need no sign-in and give none. Opening one changes nothing, because mail servers open links to check them;
 * its button does.
 */
export const notificationLinkPages = [
  publicPage(confirmPath, async (visit) => {
    await countRequest(visit);
    const found = await visit.read(findConfirmation, visit.params['token'] ?? '');
    if (!found) throw linkInvalid();
    const text = (
      <>
        The account <strong>{found.username}</strong> asks to send notifications to {found.target}.
      </>
    );
    return buttonPage(visit, 'Confirm your e-mail address', text, 'Confirm the address');
  }),
  publicAction(confirmPath, async (visit) => {
    await countRequest(visit);
    const isConfirmed = await visit.parts.services.write(
      undefined,
      confirmAddress,
      visit.params['token'] ?? '',
    );
    if (!isConfirmed) throw linkInvalid();
    return focusPage('Address confirmed', <p>Notifications are now sent to this address.</p>, {
      link: { href: '/console/notifications', text: 'Notification settings' },
    });
  }),
  publicPage(unsubscribePath, async (visit) => {
    await countRequest(visit);
    const link = await findLink(visit);
    const text = `No more notifications are sent to ${link.email}.`;
    return buttonPage(visit, 'Turn off e-mails', text, 'Turn off e-mails');
  }),
];

/** Turns e-mail off by a signed link: a form of the page, or one click in a mail program. @throws {DomainError} NOT_FOUND */
export async function unsubscribeByPost(visit: LinkVisit): Promise<ShownPage> {
  await countRequest(visit);
  await visit.parts.services.write(undefined, unsubscribe, await findLink(visit));
  return focusPage('E-mails are off', <p>You get no more notifications by e-mail.</p>);
}

async function findLink({ write, params }: LinkVisit) {
  const link = await write(async (work) => readUnsubscribeKey(work, params['key'] ?? ''));
  if (!link) throw linkInvalid();
  return link;
}

function buttonPage({ ctx }: LinkVisit, title: string, text: ShownPage['body'], button: string): ShownPage {
  return focusPage(
    title,
    <>
      <p>{text}</p>
      <PostButton label={button} action={ctx.path} kind="primary" redirects={false} />
    </>,
  );
}

function linkInvalid(): DomainError {
  return new DomainError('NOT_FOUND', 'This link is invalid, was used, or has expired.');
}

/** The pending items, for the script. While a browser has the stream, messages to other channels wait. */
export const notificationStreamRoute = publicPage('/console/live/notifications', (visit) => {
  const { ctx, person, parts, read, write } = visit;
  const account_id = person?.account_id ?? '';
  parts.live.serve(ctx, person, {
    lease: { renew: () => write(renewPageLease, account_id) },
    async render() {
      if (!(await read(hasBrowserNotifications, account_id)))
        throw new DomainError('NOT_FOUND', 'Notifications of the browser are off.');
      const items = await read(readWaitingItems, account_id);
      const content = items.map(({ key, path: address, text }) => (
        <a href={address} data-key={key} key={key}>
          {text}
        </a>
      ));
      return { content };
    },
  });
  return 'handled';
});
