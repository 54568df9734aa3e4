import { collection, unscoped } from "opwright/runtime";
import { bookingsSpec } from "../generated/documents/bookings.js";
import { peopleSpec } from "../generated/documents/people.js";
import { roomsSpec } from "../generated/documents/rooms.js";
import type { BookingsRemindJob } from "../generated/jobs.js";
import { stageEvent } from "../generated/outbox.js";

/** A day before, whoever has booked a room is reminded. */
export const remind: BookingsRemindJob = async ({ id }, context) => {
  const { room, by, starts_at } = await collection(unscoped(bookingsSpec), context).get(id);
  const people = collection(unscoped(peopleSpec), context);
  const [person] = await people.find({ filters: { $values: { owner_id: by } }, size: 1 });
  if (person === undefined) return;
  const { name } = await collection(roomsSpec, context).get(room);
  const mail = { room: name, starts_at, to: person.mail };
  await context.commit(() => stageEvent(context, "bookings.soon", mail));
};
