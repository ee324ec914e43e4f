import type { Context } from 'koa';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import {
  confirmAddress,
  findConfirmation,
  readUnsubscribeKey,
  unsubscribe,
} from '../../../../services/notifications/settings.ts';
import { addressKey } from '../../../http/address-key.ts';
import { Card, Heading } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, publicAction, publicPage, type ShownPage } from '../../route.ts';

const confirmPath = '/notifications/confirm/:token';
export const unsubscribePath = '/notifications/unsubscribe/:key';

/**
 * The pages of the links in e-mails. They need no sign-in and give none. Opening one changes nothing, because mail servers open links to check them;
 * its button does.
 */
export function notificationLinkRoutes({ unitOfWork, limits }: PageParts): ConsoleRoute[] {
  const countRequest = (ctx: Context) => limits.consume('public', addressKey(ctx));
  return [
    publicPage(confirmPath, async ({ ctx, params }) => {
      await countRequest(ctx);
      const token = params['token'] ?? '';
      const found = await unitOfWork.readAsSystem((all) => findConfirmation(all, token));
      if (!found) throw linkInvalid();
      return taskPage(
        'Confirm your e-mail address',
        <>
          <p>
            The account <strong>{found.username}</strong> asks to send notifications to {found.target}.
          </p>
          <Form action={confirmPath.replace(':token', token)}>
            <Actions>
              <Button>Confirm the address</Button>
            </Actions>
          </Form>
        </>,
      );
    }),
    publicAction(confirmPath, async ({ ctx, params }) => {
      await countRequest(ctx);
      const isConfirmed = await unitOfWork.writeAsSystem((work) =>
        confirmAddress(work, params['token'] ?? ''),
      );
      if (!isConfirmed) throw linkInvalid();
      return taskPage(
        'Address confirmed',
        <>
          <p>Notifications are now sent to this address.</p>
          <ButtonLink href="/console/notifications">Notification settings</ButtonLink>
        </>,
      );
    }),
    publicPage(unsubscribePath, async ({ ctx, params }) => {
      await countRequest(ctx);
      const key = params['key'] ?? '';
      const link = await unitOfWork.writeAsSystem(async (work) => readUnsubscribeKey(work, key));
      if (!link) throw linkInvalid();
      return taskPage(
        'Turn off e-mails',
        <>
          <p>No more notifications are sent to {link.email}.</p>
          <Form action={unsubscribePath.replace(':key', key)}>
            <Actions>
              <Button>Turn off e-mails</Button>
            </Actions>
          </Form>
        </>,
      );
    }),
  ];
}

/** Turns e-mail off by a signed link: a form of the page, or one click in a mail program. @throws {DomainError} NOT_FOUND */
export async function unsubscribeByPost(
  { unitOfWork, limits }: Pick<PageParts, 'unitOfWork' | 'limits'>,
  ctx: Context,
): Promise<ShownPage> {
  await limits.consume('public', addressKey(ctx));
  const { key = '' } = ctx['params'] as Record<string, string>;
  await unitOfWork.writeAsSystem(async (work) => {
    const link = readUnsubscribeKey(work, key);
    if (!link) throw linkInvalid();
    await unsubscribe(work, link);
  });
  return taskPage('E-mails are off', <p>You get no more notifications by e-mail.</p>);
}

function taskPage(title: string, content: ShownPage['body']): ShownPage {
  const body = (
    <>
      <Heading title={title} />
      <Card>{content}</Card>
    </>
  );
  return { title, body, shell: 'focus' };
}

function linkInvalid(): DomainError {
  return new DomainError('NOT_FOUND', 'This link is invalid, was used, or has expired.');
}
