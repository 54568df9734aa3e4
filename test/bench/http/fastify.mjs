// Fastify 5 with its own validation and its own serializer.
import Fastify from "fastify";
import { findTask, makeTask, routeCount, schema } from "./work.mjs";

const app = Fastify({ logger: false });
const answer = {
  type: "object",
  properties: { id: { type: "string" }, rev: { type: "integer" }, ...schema.properties },
};
const found = { 200: answer, 404: { type: "object" } };
for (let index = 0; index < routeCount / 2; index += 1) {
  app.get(`/tasks${index}/:id`, { schema: { response: found } }, (request, reply) => {
    const { id } = /** @type {{ id: string }} */ (request.params);
    return findTask(id) ?? reply.status(404).send({});
  });
  app.post(
    `/tasks${index}`,
    { schema: { body: schema, response: { 201: answer } } },
    (request, reply) => {
      reply.code(201);
      return makeTask(request.body);
    },
  );
}
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
