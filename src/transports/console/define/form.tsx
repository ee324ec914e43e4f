import type { ComponentChildren, JSX } from 'preact';
import { Card, ErrorNotice } from '../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../components/form.tsx';
import { type FieldByCode, type FormErrors, orShowFormAgain, redirectOrWarn } from '../form-errors.ts';
import { createIdempotencyKey, readIdempotencyKey } from '../idempotency-key.ts';
import type { Redirect, ShownPage } from '../route.ts';
import { type EnteredIn, type FieldDefinitions, Fields, readFields } from './fields.tsx';
import { type Change, type PageVisit, type Per, type Section, valueFor } from './section.ts';

type ButtonKind = 'primary' | 'quiet' | 'danger';

type Values<F extends FieldDefinitions> = {
  [Name in keyof EnteredIn<F>]?: EnteredIn<F>[Name] | undefined;
};

/** What a form knows while it is sent. */
interface Sending {
  /** The same for a form that is sent twice. */
  key: string;
  /** Shows the form again, without an error. */
  again(): Promise<ShownPage>;
}

export interface FormDefinition<V extends PageVisit, F extends FieldDefinitions> {
  /** The part of its path after that of the page. Default: it posts to the path of the page. */
  name?: string;
  title?: Per<V, string>;
  /** Beside the title. */
  action?(visit: V): ComponentChildren;
  /** Above the form. */
  text?: string | ((visit: V, errors: FormErrors | undefined) => ComponentChildren);
  fields: Per<V, F>;
  /** What the fields show before the person enters something. */
  values?(visit: V): Values<F> | Promise<Values<F>>;
  button: Per<V, string>;
  /** Of the button. Default: primary. */
  kind?: Per<V, ButtonKind>;
  /** More buttons, which send the form with their name as `intent`. */
  more?: Readonly<Record<string, string>>;
  /** `danger` for a change that cannot be undone. */
  tone?: 'danger';
  /** The page to return to without a change. */
  cancel?(visit: V): string;
  isShown?(visit: V): boolean;
  /** The field of errors without a field, by error code. */
  errors?: FieldByCode;
  /** The field that shows the errors of a field of the operation with another name. */
  aliases?: Readonly<Record<string, string>>;
  /** Whether sending it twice must do it once. */
  once?: boolean;
  maxFormBytes?: number;
  /** Whether it has files, which `submit` reads. */
  takesFiles?: boolean;
  /** Returns the message for the page, or another answer. */
  submit(visit: V, entered: EnteredIn<F>, sending: Sending): Promise<string | Redirect | ShownPage>;
}

/** A card with a form. */
export function formSection<V extends PageVisit, F extends FieldDefinitions>(
  definition: FormDefinition<V, F>,
): Section<V> {
  const { name = '', title, text, button, more, cancel, tone, isShown, once = false } = definition;
  return {
    async show(visit, submitted) {
      if (isShown && !isShown(visit)) return null;
      const own = submitted?.form === name ? submitted : undefined;
      const { message, fields = {} } = own?.errors ?? {};
      return (
        <Card title={valueFor(title, visit)} action={definition.action?.(visit)} tone={tone ?? 'plain'}>
          {!own?.isErrorShown && <ErrorNotice message={message} />}
          {typeof text === 'function' ? text(visit, own?.errors) : text !== undefined && <p>{text}</p>}
          <Form
            action={toAction(visit, name)}
            hasFiles={definition.takesFiles}
            {...(once && { hidden: { idempotency_key: createIdempotencyKey() } })}
          >
            <Fields
              fields={valueFor(definition.fields, visit)}
              values={own?.entered ?? (await definition.values?.(visit)) ?? {}}
              errors={toFieldErrors(fields, definition.aliases ?? {})}
            />
            <Actions>
              <Button
                kind={tone ?? valueFor(definition.kind, visit)}
                {...(more && { name: 'intent', value: 'save' })}
              >
                {valueFor(button, visit)}
              </Button>
              {Object.entries(more ?? {}).map(([intent, label]) => (
                <Button kind="quiet" name="intent" value={intent} key={intent}>
                  {label}
                </Button>
              ))}
              {cancel && <ButtonLink href={cancel(visit)}>Cancel</ButtonLink>}
            </Actions>
          </Form>
        </Card>
      );
    },
    form: {
      name,
      maxFormBytes: definition.maxFormBytes,
      takesFiles: definition.takesFiles,
      submit(visit, again) {
        const entered = readFields(valueFor(definition.fields, visit), visit.form);
        return orShowFormAgain(
          async () => {
            const key = readIdempotencyKey(visit.form);
            const showAgain = () => again({ form: name, entered });
            const answer = await definition.submit(visit, entered, { key, again: showAgain });
            return typeof answer === 'string' ? { to: visit.address, flash: answer } : answer;
          },
          (errors) => again({ form: name, entered, errors }),
          definition.errors,
        );
      },
    },
  };
}

export interface ButtonDefinition<V extends PageVisit> {
  /** The part of its path after that of the page; empty: the path of the page. */
  name: string;
  title?: Per<V, string>;
  /** Above the button. */
  text?: Per<V, string | JSX.Element>;
  button: Per<V, string>;
  kind?: Per<V, ButtonKind>;
  /** What the button sends, by name. */
  hidden?(visit: V): Record<string, string>;
  /** `danger` for a change that cannot be undone. */
  tone?: 'danger';
  /** The page to return to, with or without the change. Default: the page itself. */
  back?(visit: V): string;
  isShown?(visit: V): boolean;
  submit: Change<V>;
}

/** A card with a button. The page that follows has the message or the error. */
export function buttonSection<V extends PageVisit>(definition: ButtonDefinition<V>): Section<V> {
  const { name, title, text, button, kind, hidden, tone, back, isShown, submit } = definition;
  return {
    show(visit) {
      if (isShown && !isShown(visit)) return null;
      const shownText = valueFor(text, visit);
      return (
        <Card title={valueFor(title, visit)} tone={tone ?? 'plain'}>
          {typeof shownText === 'string' ? <p>{shownText}</p> : shownText}
          <Form action={toAction(visit, name)} hidden={hidden?.(visit)}>
            <Actions>
              <Button kind={valueFor(kind, visit)}>{valueFor(button, visit)}</Button>
              {back && <ButtonLink href={back(visit)}>Cancel</ButtonLink>}
            </Actions>
          </Form>
        </Card>
      );
    },
    form: { name, submit: (visit) => redirectOrWarn(back?.(visit) ?? visit.address, () => submit(visit)) },
  };
}

/** The path that a form posts to. */
function toAction({ address }: PageVisit, name: string): string {
  return name === '' ? address : `${address}/${name}`;
}

/** The errors by field of the form. */
function toFieldErrors(fields: FormErrors['fields'], aliases: Readonly<Record<string, string>>) {
  const renamed = Object.entries(fields).map(([name, error]) => [aliases[name] ?? name, error]);
  return { ...fields, ...Object.fromEntries(renamed) } as FormErrors['fields'];
}
