import type { Knex } from 'knex';

/**
 * The number of attachments of a message, so that messages without any are read as fast as before. For an attachment: its position in the
 * message, the beginning of its text, and the time of the first failed scan. A direct upload has a row of its own until its bytes have
 * arrived: only then are all columns of an attachment known.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table messages add column attachment_count smallint not null default 0;
    alter table attachments
      add column position smallint,
      add column preview text,
      add column scan_trouble_since bigint;

    create table uploads (
      id text collate "C" primary key,
      uploader_id text collate "C" not null references agents,
      storage_key text collate "C" not null,
      filename text not null,
      content_type text not null,
      size_bytes bigint not null check (size_bytes > 0),
      sha256 text collate "C" check (sha256 ~ '^[0-9a-f]{64}$'),
      created_at bigint not null,
      expires_at bigint not null,
      constraint uploads_storage_key_unique unique (storage_key)
    );
    create index uploads_uploader on uploads (uploader_id);
    create index uploads_expiry on uploads (expires_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table uploads;
    alter table attachments drop column position, drop column preview, drop column scan_trouble_since;
    alter table messages drop column attachment_count;
  `);
}
